package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DuplicateKeyException;

/**
 * The dead events of an outbox. Moves and deletes them in batches, each in a transaction
 * of its own. Skips rows that another transaction has locked.
 */
public final class JdbcDeadEvents implements DeadEvents {

	private static final Logger logger = LoggerFactory.getLogger(JdbcDeadEvents.class);

	private static final int BATCH = 500;

	private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(10);

	private final OutboxDatabase database;

	private final OutboxTables tables;

	/**
	 * Creates the dead events of an outbox.
	 * @param transactions own transactions on the data source of the application's
	 * @param tablePrefix the common prefix of the names of the tables
	 */
	public JdbcDeadEvents(OwnTransactions transactions, String tablePrefix) {
		this.tables = new OutboxTables(tablePrefix);
		this.database = new OutboxDatabase(transactions, this.tables);
	}

	@Override
	public DeadPage list(EventFilter filter, long after, int limit) {
		Database kind = this.database.kind();
		String range = " from " + this.tables.dead() + " where id > ? order by id limit ";
		List<Object> parameters = new ArrayList<>(List.of(after));
		String matching = OutboxTables.matching(kind, filter, parameters);
		String sql = "select id, lane, event_id, type, topic, event_key, attempts, " + kind.millisSince("died_at")
				+ " as age, last_error, bytes from (select id, lane, event_id, type, topic, event_key, attempts, died_at, "
				+ "last_error, octet_length(payload) as bytes" + range
				+ (filter.equals(EventFilter.ALL) ? limit : OutboxTables.MAX_EXAMINED) + ") examined where 1 = 1"
				+ matching + " order by id limit " + limit;
		return this.database.runInTransaction((connection) -> {
			// Read first, so that the newest row is not beyond the rows of the page.
			long newest = newest(connection);
			List<DeadEvent> events = Statements.query(connection, sql, parameters, (row, number) -> event(row));
			return (events.size() == limit) ? new DeadPage(events, events.get(limit - 1).row(), newest)
					: new DeadPage(events, endOfExamined(connection, range, after), newest);
		});
	}

	private long newest(Connection connection) {
		return Statements
			.query(connection, "select max(id) from " + this.tables.dead(), List.of(), (row, number) -> row.getLong(1))
			.get(0);
	}

	private static @Nullable Long endOfExamined(Connection connection, String range, long after) {
		List<Long> last = Statements.query(connection,
				"select id" + range + "1 offset " + (OutboxTables.MAX_EXAMINED - 1), List.of(after),
				(row, number) -> row.getLong(1));
		return last.isEmpty() ? null : last.get(0);
	}

	private static DeadEvent event(ResultSet row) throws SQLException {
		return new DeadEvent(EventRow.idOf(row), row.getLong("id"), row.getString("type"), row.getString("topic"),
				LaneHash.isOrdered(row), row.getInt("attempts"), Duration.ofMillis(Math.max(0, row.getLong("age"))),
				row.getString("last_error"), row.getLong("bytes"));
	}

	/**
	 * Events return to their lanes with the ids of their rows, unless these are taken: a
	 * sequence repeats ids after its table was truncated. Their age begins again.
	 */
	@Override
	public int retry(EventFilter filter) {
		return eachBatch(filter, (connection, rows) -> toEvents(connection, "id, ", "sequence, ", rows),
				(connection, rows) -> toEvents(connection, "", "", rows));
	}

	@Override
	public int discard(EventFilter filter) {
		return eachBatch(filter, this::delete, this::delete);
	}

	private void toEvents(Connection connection, String id, String sequence, List<Long> rows) {
		Statements.move(connection, rows.size(),
				"insert into " + this.tables.event() + " (" + id + "lane, " + EventRow.COLUMNS + ") select " + sequence
						+ "lane, " + EventRow.COLUMNS + " from " + this.tables.dead() + " where id"
						+ OutboxTables.in(rows) + " order by id");
		delete(connection, rows);
	}

	private void delete(Connection connection, List<Long> rows) {
		Statements.move(connection, rows.size(),
				"delete from " + this.tables.dead() + " where id" + OutboxTables.in(rows));
	}

	/**
	 * Changes events in batches. Not beyond the last row at the beginning: an event that
	 * becomes dead again gets a new row behind it.
	 * @param ifTaken what to do with a batch if an id is taken
	 */
	private int eachBatch(EventFilter filter, BiConsumer<Connection, List<Long>> step,
			BiConsumer<Connection, List<Long>> ifTaken) {
		long last = this.database.run(this::newest);
		return OutboxDatabase.inBatches(0L, BATCH, (after) -> {
			List<Object> parameters = new ArrayList<>(List.of(after, last));
			String condition = " where id > ? and id <= ?"
					+ OutboxTables.matching(this.database.kind(), filter, parameters);
			try {
				return change(condition, parameters, BATCH, step);
			}
			catch (DuplicateKeyException ex) {
				return change(condition, parameters, BATCH, ifTaken);
			}
		});
	}

	private List<Long> change(String condition, List<Object> parameters, int limit,
			BiConsumer<Connection, List<Long>> step) {
		return this.database.runInTransaction((connection) -> {
			List<Long> locked = Statements.query(connection, "select id from " + this.tables.dead() + condition
					+ " order by id limit " + limit + " for update skip locked", parameters,
					(row, number) -> row.getLong(1));
			if (!locked.isEmpty()) {
				step.accept(connection, locked);
			}
			return locked;
		});
	}

	/**
	 * Creates a sweeper of events that have been dead for too long.
	 * @param retention how long dead events are kept, at least one millisecond
	 * @return deletes them every ten minutes, or at the interval of the retention if that
	 * is shorter; not started
	 */
	public TableSweeper sweeper(Duration retention) {
		Duration interval = (retention.compareTo(LONGEST_INTERVAL) < 0) ? retention : LONGEST_INTERVAL;
		return new TableSweeper("outbox-sweeper", "Dead events", interval, (limit) -> sweep(retention, limit),
				(swept) -> {
					if (swept > 0) {
						logger.info("Deleted {} events that had been dead for {} (idempotent.outbox.dead-retention)",
								swept, retention);
					}
				});
	}

	private int sweep(Duration retention, int limit) {
		return change(" where " + this.database.kind().millisSince("died_at") + " >= ?", List.of(retention.toMillis()),
				limit, this::delete)
			.size();
	}

}
