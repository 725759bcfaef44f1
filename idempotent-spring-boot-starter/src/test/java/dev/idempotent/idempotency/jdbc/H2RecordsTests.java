package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;

import dev.idempotent.idempotency.AbstractIdempotencyStoreFuzzTests;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import static org.awaitility.Awaitility.await;

/**
 * Tests for the records in H2: {@link JdbcIdempotencyStore}, {@link IdempotencyRecords}
 * and their sweeper.
 */
class H2RecordsTests {

	@Nested
	class Store extends IdempotencyStoreContract {

		private static JdbcIdempotencyStore store;

		@BeforeAll
		static void connect() {
			RecordTable table = RecordTable.inMemory();
			store = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
		}

		@Override
		public IdempotencyStore store() {
			return store;
		}

	}

	@Nested
	class StoreFuzz extends AbstractIdempotencyStoreFuzzTests {

		private static RecordTable table;

		private static JdbcIdempotencyStore store;

		@BeforeAll
		static void connect() {
			table = RecordTable.inMemory();
			store = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
		}

		@Override
		protected IdempotencyStore store() {
			return store;
		}

		@Override
		protected void forget(IdempotencyKey key) {
			table.forget(key);
		}

	}

	@Nested
	class RecordLocks extends AbstractIdempotencyRecordsLocksTests {

		private static final Duration DEFAULT = Duration.ofSeconds(2);

		private static RecordTable table;

		@BeforeAll
		static void createTable() {
			table = RecordTable.inMemory();
		}

		@Override
		RecordTable table() {
			return table;
		}

		/**
		 * A session of H2 has one lock timeout, which no claim changes.
		 */
		@Override
		void waitForLocksTooLong(Connection connection) throws SQLException {
			waitForLocks(connection, shortTime());
		}

		@Override
		Claim claim(Connection connection, String token, @Nullable Duration lockTimeout) {
			try {
				waitForLocks(connection, (lockTimeout != null) ? lockTimeout : DEFAULT);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			return super.claim(connection, token, lockTimeout);
		}

		private static void waitForLocks(Connection connection, Duration timeout) throws SQLException {
			try (Statement statement = connection.createStatement()) {
				statement.execute("set lock_timeout " + timeout.toMillis());
			}
		}

		@Override
		void awaitAWaitingTransaction() {
			await().until(() -> Thread.getAllStackTraces()
				.values()
				.stream()
				.flatMap(Stream::of)
				.anyMatch((frame) -> frame.getClassName().equals("org.h2.command.Command")
						&& frame.getMethodName().equals("executeUpdate")));
		}

	}

	@Nested
	class Statements extends AbstractIdempotencyRecordsStatementsTests {

		private static RecordTable table;

		@BeforeAll
		static void createTable() {
			table = RecordTable.inMemory();
		}

		@Override
		RecordTable table() {
			return table;
		}

		@Override
		int statementsForALimit() {
			return 0;
		}

	}

	@Nested
	class Sweeper extends AbstractRecordSweeperTests {

		private static RecordTable table;

		@BeforeAll
		static void createTable() {
			table = RecordTable.inMemory();
		}

		@Override
		RecordTable table() {
			return table;
		}

	}

}
