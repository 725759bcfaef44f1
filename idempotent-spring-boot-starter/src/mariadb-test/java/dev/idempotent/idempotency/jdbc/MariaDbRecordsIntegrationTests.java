package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.AbstractIdempotencyStoreFuzzTests;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealMariaDb;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The records in MariaDB with each driver. MySQL Connector/J counts the rows that a
 * statement finds, or as a setting those that it changes.
 */
@ParameterizedClass
@ValueSource(strings = { RealMariaDb.URL, RealMariaDb.CONNECTOR_J_URL,
		RealMariaDb.CONNECTOR_J_URL + "?useAffectedRows=true" })
class MariaDbRecordsIntegrationTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Map<String, RecordTable> tables = new ConcurrentHashMap<>();

	private final String url;

	MariaDbRecordsIntegrationTests(String url) {
		this.url = url;
	}

	private RecordTable table(String name) {
		return tables.computeIfAbsent(this.url + name,
				(key) -> RecordTable.create(mariaDb.connect(this.url), "mysql", name + "_record"));
	}

	private JdbcIdempotencyStore store(String name) {
		return new JdbcIdempotencyStore(new OwnTransactions(table(name).dataSource()), table(name).name());
	}

	@Nested
	class StoreTests extends IdempotencyStoreContract {

		private final JdbcIdempotencyStore store = MariaDbRecordsIntegrationTests.this.store("store");

		@Override
		public IdempotencyStore store() {
			return this.store;
		}

	}

	@Nested
	class StoreFuzzTests extends AbstractIdempotencyStoreFuzzTests {

		private final JdbcIdempotencyStore store = MariaDbRecordsIntegrationTests.this.store("fuzz");

		@Override
		protected IdempotencyStore store() {
			return this.store;
		}

		@Override
		protected void forget(IdempotencyKey key) {
			table("fuzz").forget(key);
		}

	}

	@Nested
	class StatementsTests extends AbstractIdempotencyRecordsStatementsTests {

		@Override
		RecordTable table() {
			return MariaDbRecordsIntegrationTests.this.table("statements");
		}

		@Override
		int statementsForALimit() {
			return 2;
		}

	}

	@Nested
	class SweeperTests extends AbstractRecordSweeperTests {

		@Override
		RecordTable table() {
			return MariaDbRecordsIntegrationTests.this.table("sweeper");
		}

	}

	@Nested
	class RenewalsTests {

		private final List<Renewal> held = Stream.generate(() -> new Renewal(Samples.key(), "owner", MINUTE))
			.limit(50)
			.toList();

		@ParameterizedTest
		@ValueSource(strings = { "", "useBulkStmts=true" })
		void reportEachRenewedKeyOfABatch(String setting) {
			String base = MariaDbRecordsIntegrationTests.this.url;
			try (HikariDataSource pool = mariaDb.connect(base + (base.contains("?") ? "&" : "?") + setting)) {
				JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(pool),
						table("renewals").name());
				this.held.forEach((one) -> store.claim(one.key(), Samples.fingerprint("request"), "owner", MINUTE));
				store.release(this.held.get(7).key(), "owner");
				assertThat(store.renewAll(this.held)).hasSize(49).doesNotContain(this.held.get(7));
			}
		}

	}

	@Nested
	class RecordLocksTests extends AbstractIdempotencyRecordsLocksTests {

		@Override
		RecordTable table() {
			return MariaDbRecordsIntegrationTests.this.table("locks");
		}

		@Override
		void waitForLocksTooLong(Connection connection) throws SQLException {
			try (Statement statement = connection.createStatement()) {
				statement.execute("set session innodb_lock_wait_timeout = 600");
			}
		}

		@Override
		void awaitAWaitingTransaction() {
			await().until(() -> table().template()
				.queryForObject("select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
						Long.class),
					Long.valueOf(1)::equals);
		}

		@Test
		void usesTheCurrentTimeInAnOldTransaction() throws SQLException {
			this.second.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			assertThat(claimInAnOldTransaction()).isEqualTo(new Claim.Acquired());
		}

		@Test
		void rejectsAnOldTransactionThatCannotSeeTheClaimant() throws SQLException {
			this.records.find(this.second, this.key, REQUEST);
			claim(this.first, "owner", null);
			this.first.commit();
			assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> claim(this.second, "rival", shortTime()));
		}

		@Test
		void restoresTheLockTimeoutForTheHandler() throws SQLException {
			claim(this.second, "owner", shortTime());
			assertThat(lockTimeout()).isEqualTo(600);
			this.second.commit();
			assertThat(claim(this.second, "rival", shortTime())).isInstanceOf(Claim.Pending.class);
			assertThat(lockTimeout()).isEqualTo(600);
		}

		@Test
		void restoresTheLockTimeoutAfterATimeout() throws SQLException {
			claim(this.first, "owner", null);
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> claim(this.second, "rival", shortTime()));
			assertThat(lockTimeout()).isEqualTo(600);
		}

		@Test
		void renewsALeaseThatEndsAtTheSameTime() throws SQLException {
			execute("set timestamp = 1800000000");
			claim(this.second, "owner", null);
			assertThat(this.records.renew(this.second, this.key, "owner", MINUTE)).isTrue();
			execute("set timestamp = default");
		}

		private int lockTimeout() throws SQLException {
			try (Statement statement = this.second.createStatement();
					ResultSet setting = statement.executeQuery("select @@session.innodb_lock_wait_timeout")) {
				setting.next();
				return setting.getInt(1);
			}
		}

		private void execute(String sql) throws SQLException {
			try (Statement statement = this.second.createStatement()) {
				statement.execute(sql);
			}
		}

	}

}
