package dev.idempotent.outbox.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.outbox.OrderedStoreContract;
import dev.idempotent.outbox.OrderedStoreFuzz;
import dev.idempotent.outbox.OrderedStoreRaces;
import dev.idempotent.outbox.OrderedStoreScan;
import dev.idempotent.outbox.OrderedStoreSettlement;
import dev.idempotent.outbox.OrderedStoreTransactions;
import dev.idempotent.outbox.TestedOrderedStore;
import org.junit.jupiter.api.Nested;

/**
 * All promises of {@link JdbcOrderedStore}, for one database and driver.
 */
abstract class JdbcOrderedStoreContract {

	private static final Map<String, OrderedOnTables> stores = new ConcurrentHashMap<>();

	/**
	 * Creates tables with a name in the database under test.
	 */
	abstract StoreOnTables create(String name);

	final OrderedOnTables tables(String name) {
		return stores.computeIfAbsent(getClass().getName() + name, (key) -> OrderedOnTables.on(create(name)));
	}

	@Nested
	class ContractTests extends OrderedStoreContract {

		@Override
		protected TestedOrderedStore tested() {
			return tables("ordered");
		}

	}

	@Nested
	class ScanTests extends OrderedStoreScan {

		@Override
		protected TestedOrderedStore tested() {
			return tables("ordered");
		}

	}

	@Nested
	class TransactionsTests extends OrderedStoreTransactions {

		@Override
		protected TestedOrderedStore tested() {
			return tables("ordered");
		}

	}

	@Nested
	class RacesTests extends OrderedStoreRaces {

		@Override
		protected TestedOrderedStore tested() {
			return tables("ordered");
		}

	}

	@Nested
	class FuzzTests extends OrderedStoreFuzz {

		@Override
		protected TestedOrderedStore tested() {
			return tables("ordered");
		}

	}

	@Nested
	class SettlementTests extends OrderedStoreSettlement {

		@Override
		protected TestedOrderedStore tested() {
			return tables("ordered");
		}

	}

	@Nested
	class OperatorsTests extends OrderedOperatorsContract {

		@Override
		protected OrderedOnTables tested() {
			return tables("ordered");
		}

	}

	@Nested
	class IdsTests extends OrderedIdsContract {

		@Override
		OrderedOnTables tested() {
			return tables("ordered");
		}

	}

	@Nested
	class EncryptionTests extends OrderedEncryptionContract {

		@Override
		OrderedOnTables tables() {
			return JdbcOrderedStoreContract.this.tables("ordered");
		}

	}

}
