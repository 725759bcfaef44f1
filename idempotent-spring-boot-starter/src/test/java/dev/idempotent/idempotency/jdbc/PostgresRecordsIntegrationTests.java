package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.AbstractIdempotencyStoreFuzzTests;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.PendingKeys;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.IncorrectUpdateSemanticsDataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the records in PostgreSQL: {@link JdbcIdempotencyStore},
 * {@link IdempotencyRecords} and their sweeper.
 */
class PostgresRecordsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Nested
	class Store extends IdempotencyStoreContract {

		private static JdbcIdempotencyStore store;

		@BeforeAll
		static void connect() {
			RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "contract_record");
			store = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()), table.name());
		}

		@Override
		public IdempotencyStore store() {
			return store;
		}

		@Test
		void listsARunningKeyOfATableWithManyResponses() {
			RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "listed_record");
			table.template().update("truncate table " + table.name());
			table.template()
				.update("insert into " + table.name()
						+ " select 'done ' || number, 'owner', 1, '', true, '\\x01', now() + "
						+ "interval '1 day' from generate_series(1, 50000) number");
			JdbcIdempotencyStore large = new JdbcIdempotencyStore(new OwnTransactions(table.dataSource()),
					table.name());
			IdempotencyKey running = Samples.key();
			large.claim(running, Samples.fingerprint("request"), "owner", Duration.ofMinutes(1), Samples.run());
			PendingKeys listed = large.findPending(10_000);
			assertThat(listed.keys()).containsOnlyKeys(running);
			assertThat(listed.within()).isGreaterThan(Duration.ofHours(23));
			large.close();
		}

	}

	@Nested
	class StoreFuzz extends AbstractIdempotencyStoreFuzzTests {

		private static RecordTable table;

		private static JdbcIdempotencyStore store;

		@BeforeAll
		static void connect() {
			table = RecordTable.create(postgres.connect(), "postgresql", "fuzz_record");
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

	/**
	 * With a pool whose connections are neither in auto-commit mode nor READ COMMITTED.
	 */
	@Nested
	@Tag("long")
	class SerializableStore extends IdempotencyStoreContract {

		private static JdbcIdempotencyStore store;

		@BeforeAll
		static void connect() {
			RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "serializable_record");
			HikariDataSource strict = postgres.connect();
			strict.setAutoCommit(false);
			strict.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
			store = new JdbcIdempotencyStore(new OwnTransactions(strict), table.name());
		}

		@Override
		public IdempotencyStore store() {
			return store;
		}

	}

	@Nested
	class RecordLocks extends AbstractIdempotencyRecordsLocksTests {

		private static RecordTable table;

		@BeforeAll
		static void connect() {
			table = RecordTable.create(postgres.connect(), "postgresql", "locks_record");
		}

		@Override
		RecordTable table() {
			return table;
		}

		@Override
		void waitForLocksTooLong(Connection connection) throws SQLException {
			execute(connection, "set local lock_timeout = '10min'");
		}

		@Override
		void awaitAWaitingTransaction() {
			await().until(() -> table.template()
				.queryForObject("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
						+ "and query like '%locks_record%'", Long.class),
					Long.valueOf(1)::equals);
		}

		@Test
		void usesTheCurrentTimeInAnOldTransaction() throws SQLException {
			assertThat(claimInAnOldTransaction()).isEqualTo(new Claim.Acquired());
		}

		@Test
		void restoresTheLockTimeoutForTheHandler() throws SQLException {
			claim(this.second, "owner", shortTime());
			assertThat(lockTimeout()).isEqualTo("10min");
			this.second.commit();
			assertThat(lockTimeout()).isEqualTo("0");

			waitForLocksTooLong(this.second);
			assertThat(claim(this.second, "rival", shortTime())).isInstanceOf(Claim.Pending.class);
			assertThat(lockTimeout()).isEqualTo("10min");
			assertThat(claim(this.second, "owner", shortTime())).isEqualTo(new Claim.Acquired());
			assertThat(lockTimeout()).isEqualTo("10min");
		}

		@Test
		void restoresTheLockTimeoutAfterATakeover() throws SQLException {
			expire();
			assertThat(claim(this.second, "owner", shortTime())).isEqualTo(new Claim.Acquired());
			assertThat(lockTimeout()).isEqualTo("10min");
		}

		@Test
		void restoresTheLockTimeoutAfterATimeout() throws SQLException {
			claim(this.first, "owner", null);
			Savepoint savepoint = this.second.setSavepoint();
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> claim(this.second, "rival", shortTime()));
			this.second.rollback(savepoint);
			assertThat(lockTimeout()).isEqualTo("10min");
		}

		@ParameterizedTest
		@ValueSource(ints = { Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE })
		void rejectsAStrictTransactionThatCannotSeeTheClaimant(int isolation) throws SQLException {
			this.second.rollback();
			this.second.setTransactionIsolation(isolation);
			execute(this.second, "select count(*) from locks_record");
			claim(this.first, "owner", null);
			this.first.commit();
			assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> claim(this.second, "rival", shortTime()))
				.isNotInstanceOf(CannotAcquireLockException.class);
			this.second.rollback();
			assertThat(claim(this.second, "rival", shortTime())).isInstanceOf(Claim.Pending.class);
			this.second.rollback();
			this.second.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		}

		/**
		 * As the transaction of a host does that has crashed.
		 */
		@Test
		void areFreeIfTheTransactionOfTheirRunFallsSilent() throws SQLException {
			Connection dead = begin();
			this.records.claim(this.records.statements(dead, Duration.ofMillis(200)), this.key, REQUEST, "dead", null,
					MINUTE, MINUTE);
			assertThat(claim(this.second, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
			assertThat(dead.isValid(1)).isFalse();
			JdbcUtils.closeConnection(dead);
		}

		@ParameterizedTest
		@CsvSource({ "0, 5000, 5s", "2min, 5000, 2min", "0, 0, 0" })
		void limitTheSilenceOfATransactionUnlessTheSessionDoes(String before, long limit, String during)
				throws SQLException {
			execute(this.first, "set local idle_in_transaction_session_timeout = '" + before + "'");
			this.records.claim(this.records.statements(this.first, Duration.ofMillis(limit)), this.key, REQUEST,
					"owner", null, MINUTE, MINUTE);
			assertThat(setting(this.first, "idle_in_transaction_session_timeout")).isEqualTo(during);
			this.first.commit();
			assertThat(setting(this.first, "idle_in_transaction_session_timeout")).isEqualTo("0");
		}

		@ParameterizedTest
		@CsvSource({ "0, 5000, 5s", "2min, 5000, 5s", "200ms, 5000, 200ms", "5s, 5000, 5s", "1d, 0, 1d", "0, 0, 0" })
		void limitTheWaitsOfATransactionUnlessTheSessionWaitsLess(String before, long limit, String during)
				throws SQLException {
			execute(this.first, "set local lock_timeout = '" + before + "'");
			this.records.claim(this.records.statements(this.first, Duration.ofMillis(limit)), this.key, REQUEST,
					"owner", null, MINUTE, MINUTE);
			assertThat(setting(this.first, "lock_timeout")).isEqualTo(during);
			this.first.commit();
			assertThat(setting(this.first, "lock_timeout")).isEqualTo("0");
		}

		private String lockTimeout() throws SQLException {
			return setting(this.second, "lock_timeout");
		}

		private static String setting(Connection connection, String name) throws SQLException {
			try (Statement statement = connection.createStatement();
					ResultSet setting = statement.executeQuery("select current_setting('" + name + "')")) {
				setting.next();
				return setting.getString(1);
			}
		}

		private static void execute(Connection connection, String sql) throws SQLException {
			try (Statement statement = connection.createStatement()) {
				statement.execute(sql);
			}
		}

	}

	@Nested
	class Statements extends AbstractIdempotencyRecordsStatementsTests {

		private static RecordTable table;

		@BeforeAll
		static void createTable() {
			table = RecordTable.create(postgres.connect(), "postgresql", "statements_record");
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
			table = RecordTable.create(postgres.connect(), "postgresql", "sweeper_record");
		}

		@Override
		RecordTable table() {
			return table;
		}

		@Test
		void findsExpiredRowsByTheirIndex() {
			table.template()
				.execute("insert into sweeper_record select md5(n::text), '', 1, '', true, null, "
						+ "now() + interval '1 hour' from generate_series(1, 20000) n");
			table.template().execute("analyze sweeper_record");
			List<String> plan = table.template()
				.queryForList("explain " + RecordSql.expired(table.name(), Database.POSTGRESQL, 1000), String.class);
			assertThat(plan).anyMatch((line) -> line.contains("Index Scan using sweeper_record_expires_at"))
				.anyMatch((line) -> line.contains("Index Cond: (expires_at <= statement_timestamp())"));
		}

		@Test
		void failsIfKeysAreNotDeleted() {
			table.expire(1);
			table.template()
				.execute("create function sweeper_keep() returns trigger language plpgsql as 'begin return null; end'");
			table.template()
				.execute(
						"create trigger keep before delete on sweeper_record for each row execute function sweeper_keep()");
			try (TableSweeper sweeper = Sweepers.sweeper(new OwnTransactions(table.dataSource()), table.name(),
					Duration.ofMinutes(1))) {
				assertThatExceptionOfType(IncorrectUpdateSemanticsDataAccessException.class).isThrownBy(sweeper::sweep);
			}
			finally {
				table.template().execute("drop function sweeper_keep cascade");
			}
		}

	}

	/**
	 * The cost of claims on PostgreSQL that do not acquire their key.
	 */
	@Timeout(180)
	@Nested
	class Contention {

		private static final int CLAIMANTS = 10;

		private static final int CLAIMS = 200;

		private static final Duration MINUTE = Duration.ofMinutes(1);

		private static final Fingerprint REQUEST = Samples.fingerprint("request");

		private static JdbcTemplate observer;

		private final IdempotencyKey key = Samples.key();

		@BeforeAll
		static void connect() {
			observer = RecordTable.create(postgres.connect(), "postgresql", "storm_record").template();
		}

		@Test
		void writesNothingForClaimsOnAPendingKey() throws InterruptedException {
			HikariDataSource pool = postgres.connect(postgres.url() + "?ApplicationName=storm");
			JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(pool), "storm_record");
			store.claim(this.key, REQUEST, "owner", MINUTE);
			long transactions = number("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
			long written = writtenBytes();
			List<Integer> refused = ConcurrentRuns.of(CLAIMANTS, (runner) -> refusedClaims(store, "rival " + runner));
			assertThat(refused).allMatch((count) -> count == CLAIMS);
			// The server may write a few rows of its own.
			assertThat(number("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint") - transactions)
				.isLessThan(20);
			assertThat(writtenBytes() - written).isLessThan(16 * 1024);
			pool.close();
			awaitTheStatisticsOfTheStorm();
			assertThat(observer.queryForMap(
					"select n_tup_ins, n_tup_upd, n_tup_del, n_dead_tup from pg_stat_user_tables where relname = 'storm_record'"))
				.isEqualTo(Map.of("n_tup_ins", 1L, "n_tup_upd", 0L, "n_tup_del", 0L, "n_dead_tup", 0L));
		}

		private int refusedClaims(JdbcIdempotencyStore store, String token) {
			int refused = 0;
			for (int i = 0; i < CLAIMS; i++) {
				if (store.claim(this.key, REQUEST, token, MINUTE) instanceof Claim.Pending) {
					refused++;
				}
			}
			return refused;
		}

		private static long writtenBytes() {
			return number("select (pg_current_wal_insert_lsn() - '0/0')::bigint");
		}

		private static void awaitTheStatisticsOfTheStorm() {
			await().until(() -> number("select count(*) from pg_stat_activity where application_name = 'storm'") == 0);
			await()
				.until(() -> number("select n_tup_ins from pg_stat_user_tables where relname = 'storm_record'") == 1);
		}

		private static long number(String sql) {
			return Objects.requireNonNull(observer.queryForObject(sql, Long.class));
		}

	}

}
