package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The row that searches of pending events may begin behind, on PostgreSQL.
 */
class PostgresLowWaterMarkIntegrationTests extends OutboxStoreSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final int CLIENTS = 4;

	private static final int TRANSACTIONS = 200;

	private static final int KEPT = 20_000;

	private static final long FEW = 50;

	private static HikariDataSource pool;

	private StoreOnTables tables;

	private LowWaterMark mark;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
		pool.setMaximumPoolSize(2 * CLIENTS);
	}

	@BeforeEach
	void createTables() {
		this.tables = StoreOnTables.create(pool, "postgresql", this.publisher.replace('-', '_') + "_");
		this.mark = mark(LONG);
	}

	@Override
	protected StoreOnTables tested() {
		return this.tables;
	}

	@Test
	void followsTheEventsThatAreDelivered() {
		assertThat(this.mark.advance()).hasValue(0);
		long first = deliverOne();
		assertThat(this.mark.advance()).hasValue(first);
		long last = deliverOne();
		assertThat(this.mark.advance()).hasValue(last);
		assertThat(this.mark.current()).isEqualTo(last);
	}

	@Test
	void staysBelowAnEventThatIsStillThere() {
		long first = append("leased or not").get(0).sequence();
		deliverOne();
		assertThat(this.mark.advance()).hasValue(first - 1);
		List<LeasedEvent> leased = claimAbove(first - 1, 1);
		assertThat(this.mark.advance()).hasValue(first - 1);
		store().release(leased);
		assertThat(this.mark.advance()).hasValue(first - 1);
		store().delivered(claimAbove(first - 1, 1));
		assertThat(this.mark.advance()).hasValue(first + 1);
	}

	@Test
	void staysBelowAnEventThatCommitsLate() throws SQLException {
		try (Connection late = pool.getConnection()) {
			long row = insert(late);
			long last = deliverOne();
			assertThat(last).isGreaterThan(row);
			// The first call reads which transactions are open.
			this.mark.advance();
			assertThat(this.mark.advance().orElseThrow()).isLessThan(row);
			late.commit();
			late.setAutoCommit(true);
			assertThat(this.mark.advance()).hasValue(row - 1);
			assertThat(claimAbove(row - 1, 1)).hasSize(1);
		}
	}

	@Test
	void passesAnEventThatIsRolledBack() throws SQLException {
		try (Connection late = pool.getConnection()) {
			insert(late);
			long last = deliverOne();
			this.mark.advance();
			late.rollback();
			late.setAutoCommit(true);
			assertThat(this.mark.advance()).hasValue(last);
		}
	}

	@Test
	void isForgottenWhenTheSequenceBeginsAgain() {
		deliverOne();
		deliverOne();
		assertThat(this.mark.advance()).hasValue(2);
		execute("truncate %s restart identity");
		long row = append("first of the new ones").get(0).sequence();
		assertThat(this.mark.advance()).hasValue(row - 1);
		store().delivered(claim());
		execute("select setval(pg_get_serial_sequence('%s', 'id'), 100)");
		assertThat(this.mark.advance()).hasValue(100);
		execute("select setval(pg_get_serial_sequence('%s', 'id'), 50)");
		assertThat(this.mark.advance()).hasValue(50);
	}

	@Test
	void isForgottenWhenTheSequenceBeginsAgainAndHasOvertakenIt() {
		deliverOne();
		assertThat(this.mark.advance()).hasValue(1);
		execute("truncate %s restart identity");
		append("one", "two", "three");
		assertThat(this.mark.advance()).hasValue(0);
	}

	@Test
	void findsARowWithALowIdWhenItIsForgotten() {
		IntStream.range(0, 5).forEach((i) -> deliverOne());
		LowWaterMark shortLived = mark(Duration.ZERO);
		assertThat(this.mark.advance()).hasValue(5);
		execute("insert into %s (id, event_id, topic, type, payload) values (2, gen_random_uuid(), '" + this.publisher
				+ ":orders', 'foreign', '')");
		assertThat(this.mark.advance()).hasValue(5);
		assertThat(shortLived.advance()).hasValue(1);
		this.mark.reset();
		assertThat(this.mark.advance()).hasValue(1);
		assertThat(claimAbove(1, 1)).hasSize(1);
	}

	@Test
	void isUnknownIfSessionsCacheValues() {
		execute("alter table %s alter column id set cache 20");
		deliverOne();
		assertThat(this.mark.advance()).isEmpty();
	}

	@Test
	void isUnknownWithChildTables() {
		execute("create table %1$s_child () inherits (%1$s)");
		assertThat(this.mark.advance()).isEmpty();
	}

	@Test
	void isUnknownWithoutPrivilegesOfTheSequence() throws SQLException {
		deliverOne();
		String role = "r" + UUID.randomUUID().toString().replace("-", "");
		execute("create role " + role);
		execute("grant select, insert, update, delete on %s to " + role);
		assertThat(advanceAs(role)).isEmpty();
		execute("grant select on sequence %s_id_seq to " + role);
		assertThat(advanceAs(role)).hasValue(1);
	}

	@Test
	void isQueriedOncePerInterval() {
		LowWaterMark seldom = new LowWaterMark(new OutboxDatabase(pool), this.tables.tables(), LONG, LONG);
		long first = deliverOne();
		assertThat(seldom.advance()).hasValue(first);
		deliverOne();
		assertThat(seldom.advance()).hasValue(first);
	}

	@Tag("long")
	@Test
	void neverPassesAnEventOfConcurrentTransactions() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
		try {
			Callable<List<String>> client = () -> violations(TRANSACTIONS);
			for (Future<List<String>> violations : threads.invokeAll(Collections.nCopies(CLIENTS, client))) {
				assertThat(violations.get()).isEmpty();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(this.mark.advance()).hasValue(CLIENTS * TRANSACTIONS);
	}

	/**
	 * Appends events one by one, and delivers them, unless they are rolled back.
	 */
	private List<String> violations(int transactions) throws SQLException {
		List<String> violations = new ArrayList<>();
		try (Connection connection = pool.getConnection()) {
			for (int i = 0; i < transactions; i++) {
				long row = insert(connection);
				checkBelow(row, "uncommitted", violations);
				if (i % 4 == 0) {
					connection.rollback();
				}
				else {
					connection.commit();
					checkBelow(row, "committed", violations);
					checkBelow(row, "committed and seen", violations);
					this.tables.template().update("delete from " + this.tables.tables().event() + " where id = ?", row);
				}
			}
			connection.setAutoCommit(true);
		}
		return violations;
	}

	private void checkBelow(long row, String state, List<String> violations) {
		long found = this.mark.advance().orElseThrow();
		if (found >= row) {
			violations.add("%s row %d is not above %d".formatted(state, row, found));
		}
	}

	@Test
	void letsASearchPassTheRowsThatALongTransactionKeeps() throws SQLException {
		execute("alter table %s set (autovacuum_enabled = false)");
		try (Connection old = pool.getConnection(); HikariDataSource alone = postgres.connect()) {
			alone.setMaximumPoolSize(1);
			holdSnapshot(old);
			execute("insert into %s (event_id, topic, type, payload) select gen_random_uuid(), '" + this.publisher
					+ ":orders', 'kept', '' from generate_series(1, " + KEPT + ")");
			execute("delete from %s");
			append("due");
			long above = this.mark.advance().orElseThrow();
			assertThat(above).isEqualTo(KEPT);
			JdbcOutboxStore counted = new JdbcOutboxStore(alone, this.tables.tables(), PayloadEncryption.NONE);
			ClaimScope scope = new ClaimScope(false, above, Set.of(this.publisher), 500);
			assertThat(new RowReads(alone).atMost(FEW, this.tables.tables().event(), "the search",
					() -> counted.claim(lease(), scope)))
				.hasSize(1);
			old.rollback();
			old.setAutoCommit(true);
		}
	}

	private static void holdSnapshot(Connection connection) throws SQLException {
		connection.setAutoCommit(false);
		connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
		try (Statement statement = connection.createStatement()) {
			statement.execute("select count(*) from pg_class");
		}
	}

	/**
	 * Inserts an event without committing it.
	 * @return its row
	 */
	private long insert(Connection connection) throws SQLException {
		connection.setAutoCommit(false);
		String sql = "insert into " + this.tables.tables().event()
				+ " (event_id, topic, type, payload) values (gen_random_uuid(), ?, 'foreign', '') returning id";
		return Statements.query(connection, sql, List.of(this.publisher + ":orders"), (row, number) -> row.getLong(1))
			.get(0);
	}

	private long deliverOne() {
		long row = append("delivered").get(0).sequence();
		assertThat(store().delivered(claimAbove(row - 1, 1))).isEqualTo(1);
		return row;
	}

	private LowWaterMark mark(Duration lifetime) {
		return new LowWaterMark(new OutboxDatabase(pool), this.tables.tables(), Duration.ZERO, lifetime);
	}

	private OptionalLong advanceAs(String role) throws SQLException {
		try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("set role " + role);
			LowWaterMark other = new LowWaterMark(new OutboxDatabase(new SingleConnectionDataSource(connection, true)),
					this.tables.tables(), Duration.ZERO, LONG);
			OptionalLong found = other.advance();
			statement.execute("reset role");
			return found;
		}
	}

	private void execute(String sql) {
		this.tables.template().execute(sql.formatted(this.tables.tables().event()));
	}

}
