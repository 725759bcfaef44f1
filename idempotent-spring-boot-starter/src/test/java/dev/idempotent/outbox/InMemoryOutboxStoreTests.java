package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Nested;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Tests for {@link InMemoryOutboxStore}, and so for the tests of stores themselves.
 */
class InMemoryOutboxStoreTests {

	private static final TestedOutboxStore model = new Model();

	@Nested
	class ContractTests extends OutboxStoreContract {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class TransactionsTests extends OutboxStoreTransactions {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class FencingTests extends OutboxStoreFencing {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class WaitingTests extends OutboxStoreWaiting {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class ContentsTests extends OutboxStoreContents {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class ForeignRowsTests extends OutboxStoreForeignRows {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class DelayedTests extends OutboxStoreDelayed {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class RacesTests extends OutboxStoreRaces {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	@Nested
	class FuzzTests extends OutboxStoreFuzz {

		@Override
		protected TestedOutboxStore tested() {
			return model;
		}

	}

	/**
	 * The model in transactions on a database that it does not need.
	 */
	private static final class Model implements TestedOutboxStore {

		private final InMemoryOutboxStore store = new InMemoryOutboxStore();

		private final PlatformTransactionManager transactions = new DataSourceTransactionManager(
				new DriverManagerDataSource("jdbc:h2:mem:"));

		@Override
		public OutboxStore store() {
			return this.store;
		}

		@Override
		public PlatformTransactionManager transactions() {
			return this.transactions;
		}

		@Override
		public void passTime(String publisher) {
			this.store.passTime(publisher);
		}

		@Override
		public void insert(UUID id, String topic, Duration delay) {
			this.store.insert(new SerializedEvent(id, 0, topic, null, "foreign", new byte[] { 1 },
					Map.of(SerializedEvent.CONTENT_TYPE, "application/json"), 0), delay);
		}

		@Override
		public List<OutboxRow> rows(Place place, String publisher) {
			return this.store.rows(place, publisher);
		}

	}

}
