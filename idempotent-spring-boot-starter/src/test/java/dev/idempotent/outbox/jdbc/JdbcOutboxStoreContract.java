package dev.idempotent.outbox.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.outbox.OutboxStoreContents;
import dev.idempotent.outbox.OutboxStoreContract;
import dev.idempotent.outbox.OutboxStoreDelayed;
import dev.idempotent.outbox.OutboxStoreFencing;
import dev.idempotent.outbox.OutboxStoreForeignRows;
import dev.idempotent.outbox.OutboxStoreFuzz;
import dev.idempotent.outbox.OutboxStoreRaces;
import dev.idempotent.outbox.OutboxStoreTransactions;
import dev.idempotent.outbox.OutboxStoreWaiting;
import dev.idempotent.outbox.TestedOutboxStore;
import org.junit.jupiter.api.Nested;

/**
 * All promises of {@link JdbcOutboxStore}, for one database and driver.
 */
abstract class JdbcOutboxStoreContract {

	private static final Map<String, StoreOnTables> stores = new ConcurrentHashMap<>();

	/**
	 * Creates tables with a name in the database under test.
	 */
	abstract StoreOnTables create(String name);

	/**
	 * Whether a claim skips rows that another claim reads but does not take.
	 */
	boolean claimsMeet() {
		return false;
	}

	final StoreOnTables tables(String name) {
		return stores.computeIfAbsent(getClass().getName() + name, (key) -> create(name));
	}

	@Nested
	class ContractTests extends OutboxStoreContract {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class TransactionsTests extends OutboxStoreTransactions {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class FencingTests extends OutboxStoreFencing {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class WaitingTests extends OutboxStoreWaiting {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class ContentsTests extends OutboxStoreContents {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class ForeignRowsTests extends OutboxStoreForeignRows {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class DelayedTests extends OutboxStoreDelayed {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class RacesTests extends OutboxStoreRaces {

		@Override
		protected TestedOutboxStore tested() {
			return tables("contract");
		}

	}

	@Nested
	class TablesTests extends OutboxTablesContract {

		@Override
		protected StoreOnTables tested() {
			return tables("contract");
		}

	}

	@Nested
	class ColumnsTests extends OutboxColumnsContract {

		@Override
		protected StoreOnTables tested() {
			return tables("columns");
		}

	}

	@Nested
	class TakenRowsTests extends OutboxTakenRowsContract {

		@Override
		protected StoreOnTables tested() {
			return tables("taken");
		}

	}

	@Nested
	class EncryptionTests extends OutboxEncryptionContract {

		@Override
		StoreOnTables tables() {
			return JdbcOutboxStoreContract.this.tables("encryption");
		}

	}

	@Nested
	class ListsTests extends EventListsContract {

		@Override
		protected StoreOnTables tested() {
			return tables("lists");
		}

	}

	@Nested
	class TopicControlTests extends TopicControlContract {

		@Override
		StoreOnTables tested() {
			return tables("contract");
		}

	}

	@Nested
	class FuzzTests extends OutboxStoreFuzz {

		@Override
		protected TestedOutboxStore tested() {
			return tables("fuzz");
		}

		@Override
		protected int historiesAtOnce() {
			return JdbcOutboxStoreContract.this.claimsMeet() ? 1 : super.historiesAtOnce();
		}

	}

}
