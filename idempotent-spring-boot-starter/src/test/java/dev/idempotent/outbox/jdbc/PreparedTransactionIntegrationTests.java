package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The events of a transaction that is prepared, which has no session and survives a
 * restart of PostgreSQL.
 */
class PreparedTransactionIntegrationTests extends OutboxStoreSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("max_prepared_transactions=1");

	private HikariDataSource pool;

	private StoreOnTables tables;

	@BeforeEach
	void connect() {
		this.pool = postgres.connect();
		this.tables = StoreOnTables.create(this.pool, "postgresql", "prepared_");
	}

	@Override
	protected StoreOnTables tested() {
		return this.tables;
	}

	@Test
	void keepsSearchesBelowItsEvents() throws SQLException {
		LowWaterMark mark = mark();
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			long row = insert(connection);
			deliverOneMore();
			mark.advance();
			execute(connection, "prepare transaction 'late'");
			connection.setAutoCommit(true);
			assertThat(mark.advance().orElseThrow()).isLessThan(row);
		}
		postgres.stop();
		postgres.start();
		connect();
		LowWaterMark afterwards = mark();
		deliverOneMore();
		afterwards.advance();
		assertThat(afterwards.advance()).hasValue(0);
		try (Connection connection = this.pool.getConnection()) {
			execute(connection, "commit prepared 'late'");
		}
		assertThat(claimAbove(afterwards.advance().orElseThrow(), 1)).hasSize(1);
	}

	private LowWaterMark mark() {
		return new LowWaterMark(new OutboxDatabase(this.pool), this.tables.tables(), Duration.ZERO, LONG);
	}

	private long insert(Connection connection) {
		String sql = "insert into " + this.tables.tables().event()
				+ " (event_id, topic, type, payload) values (gen_random_uuid(), ?, 'foreign', '') returning id";
		return Statements.query(connection, sql, List.of(this.publisher + ":orders"), (row, number) -> row.getLong(1))
			.get(0);
	}

	private void deliverOneMore() {
		append("delivered");
		assertThat(store().delivered(claim())).isEqualTo(1);
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
