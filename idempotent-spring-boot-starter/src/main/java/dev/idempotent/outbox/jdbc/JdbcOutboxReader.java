package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.EventCount;
import dev.idempotent.outbox.OutboxSummary;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Reads the state of the outbox. Counts up to a limit, in one statement without locks.
 */
public final class JdbcOutboxReader {

	private static final int TIMEOUT_SECONDS = 5;

	private static final int MAX_COUNT = 10_000;

	private static final Duration RECHECK_INTERVAL = Duration.ofMinutes(1);

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private volatile @Nullable Missing missing;

	/**
	 * Creates a reader.
	 * @param dataSource the data source of the store
	 * @param tables the tables of the store
	 */
	public JdbcOutboxReader(DataSource dataSource, OutboxTables tables) {
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
	}

	/**
	 * Reads the summary.
	 * @return the current state
	 * @throws InvalidDataAccessResourceUsageException if there are no tables; they are
	 * not queried again for a minute
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 * within 5 seconds
	 */
	public OutboxSummary read() {
		Missing known = this.missing;
		if (known != null && System.nanoTime() - known.since() < RECHECK_INTERVAL.toNanos()) {
			throw new InvalidDataAccessResourceUsageException("The tables of the outbox do not exist", known.failure());
		}
		try {
			String sql = sql(this.database.kind());
			OutboxSummary summary = this.database.run((connection) -> read(connection, sql));
			this.missing = null;
			return summary;
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			this.missing = new Missing(ex, System.nanoTime());
			throw ex;
		}
	}

	private static OutboxSummary read(Connection connection, String sql) {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return new OutboxSummary(count(row.getInt(1)), count(row.getInt(2)), count(row.getInt(3)),
						Math.min(row.getInt(4), MAX_COUNT), count(row.getInt(5)), Math.min(row.getInt(6), MAX_COUNT),
						Duration.ofMillis(Math.max(0, Math.max(row.getLong(7), row.getLong(8)))));
			}
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private static EventCount count(int counted) {
		return new EventCount(Math.min(counted, MAX_COUNT), counted <= MAX_COUNT);
	}

	private String sql(Database kind) {
		return "select " + count(this.tables.event(), "") + ", " + count(this.tables.waiting(), "") + ", "
				+ count(this.tables.ordered(), "") + ", "
				+ count(this.tables.ordered(), " where available_at = " + BlockedRows.never(kind)) + ", "
				+ count(this.tables.dead(), "") + ", "
				+ count(this.tables.event(), " where claim_id is not null and available_at > " + kind.nowForIndexes())
				+ ", (select " + kind.millisSince("created_at") + " from " + this.tables.event()
				+ " order by id limit 1), (" + OldestHead.age(kind, this.tables, MAX_COUNT, "") + ")";
	}

	/**
	 * Counts one row more than the limit, to know whether the count is exact.
	 */
	private static String count(String table, String condition) {
		String columns = condition.isEmpty() ? "id" : "claim_id, available_at";
		return "(select count(*) from (select " + columns + " from " + table + " limit " + (MAX_COUNT + 1) + ") counted"
				+ condition + ")";
	}

	/**
	 * Avoids repeated errors in the log of a database without the tables.
	 */
	private record Missing(InvalidDataAccessResourceUsageException failure, long since) {
	}

}
