package dev.idempotent.outbox;

import java.util.List;

import org.junit.jupiter.api.Nested;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Tests for {@link InMemoryOrderedStore}, and so for the tests of stores themselves.
 */
class InMemoryOrderedStoreTests {

	private static final TestedOrderedStore model = new Model();

	@Nested
	class ContractTests extends OrderedStoreContract {

		@Override
		protected TestedOrderedStore tested() {
			return model;
		}

	}

	@Nested
	class ScanTests extends OrderedStoreScan {

		@Override
		protected TestedOrderedStore tested() {
			return model;
		}

	}

	@Nested
	class TransactionsTests extends OrderedStoreTransactions {

		@Override
		protected TestedOrderedStore tested() {
			return model;
		}

	}

	@Nested
	class RacesTests extends OrderedStoreRaces {

		@Override
		protected TestedOrderedStore tested() {
			return model;
		}

	}

	@Nested
	class FuzzTests extends OrderedStoreFuzz {

		@Override
		protected TestedOrderedStore tested() {
			return model;
		}

	}

	@Nested
	class SettlementTests extends OrderedStoreSettlement {

		@Override
		protected TestedOrderedStore tested() {
			return model;
		}

	}

	/**
	 * The model in transactions on a database that it does not need.
	 */
	private static final class Model implements TestedOrderedStore {

		private final InMemoryOrderedStore store = new InMemoryOrderedStore();

		private final PlatformTransactionManager transactions = new DataSourceTransactionManager(
				new DriverManagerDataSource("jdbc:h2:mem:"));

		@Override
		public OrderedOutboxStore store() {
			return this.store;
		}

		@Override
		public PlatformTransactionManager transactions() {
			return this.transactions;
		}

		@Override
		public void passTime(String topic) {
			this.store.passTime(topic);
		}

		@Override
		public List<OrderedRowState> rows(String topic) {
			return this.store.rows(topic);
		}

		@Override
		public List<DeadOrderedEvent> dead(String topic) {
			return this.store.dead(topic);
		}

	}

}
