package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.util.StringUtils;

/**
 * The low-water mark of the pending events on PostgreSQL: there are no rows up to it, and
 * the sequence of the table will not assign one. An insert locks the table before it
 * takes its value of the sequence, until its transaction has ended. So once the
 * transactions that held this lock after a value was read have ended, each row up to that
 * value is either visible or will never exist.
 */
final class LowWaterMark {

	static final Duration INTERVAL = Duration.ofSeconds(1);

	/**
	 * Limits how long a row stays unseen that another program inserts with a low id of
	 * its own.
	 */
	static final Duration LIFETIME = Duration.ofMinutes(5);

	private static final Logger logger = LoggerFactory.getLogger(LowWaterMark.class);

	/**
	 * {@code null} on a standby, which may not know the latest rows and locks.
	 */
	private static final String SERVER = "case when not pg_is_in_recovery() then pg_postmaster_start_time() end";

	/**
	 * Sessions that cache values, child tables and other sequences would insert rows that
	 * these statements do not expect. A restarted sequence has another file.
	 */
	private static final String POSITION = "select coalesce(pg_sequence_last_value(s.seqrelid), 0), t.oid, "
			+ "concat(s.seqrelid, '/', pg_relation_filenode(s.seqrelid)), " + SERVER
			+ " from pg_class t join pg_sequence s on s.seqrelid = to_regclass(pg_get_serial_sequence(?, 'id')) "
			+ "where t.oid = to_regclass(?) and t.relkind = 'r' and not t.relhassubclass and s.seqcache = 1 "
			+ "and s.seqincrement > 0 and not s.seqcycle and has_sequence_privilege(s.seqrelid, 'usage, select')";

	private static final String WRITERS = "select string_agg(virtualtransaction, ','), " + SERVER
			+ " from pg_locks where locktype = 'relation' and relation = ? and mode = 'RowExclusiveLock' and granted "
			+ "and database = (select oid from pg_database where datname = current_database())";

	/**
	 * How the server identifies a prepared transaction, at the latest after a restart.
	 */
	private static final String PREPARED = "-1/";

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private final Duration interval;

	private final Duration lifetime;

	private State state = new State(null);

	private @Nullable Long advanced;

	private volatile long mark;

	LowWaterMark(OutboxDatabase database, OutboxTables tables, Duration interval, Duration lifetime) {
		this.database = database;
		this.tables = tables;
		this.interval = interval;
		this.lifetime = lifetime;
	}

	/**
	 * The row that was found last.
	 * @return 0 for none
	 */
	long current() {
		return this.mark;
	}

	/**
	 * Queries the database, at most once per interval.
	 * @return the mark; empty if it cannot be determined
	 */
	synchronized OptionalLong advance() {
		long now = System.nanoTime();
		if (now - this.state.since >= this.lifetime.toNanos()) {
			reset(null);
		}
		if (this.state.known && (this.advanced == null || now - this.advanced >= this.interval.toNanos())) {
			this.advanced = now;
			try {
				this.state.known = this.database.runOnce(this::advance);
			}
			catch (DataAccessException ex) {
				logger.debug("The rows of {} are searched from the first one", this.tables.event(), ex);
				reset(null);
				this.state.known = false;
			}
			this.mark = this.state.mark;
		}
		return this.state.known ? OptionalLong.of(this.mark) : OptionalLong.empty();
	}

	/**
	 * Discards the mark.
	 */
	synchronized void reset() {
		reset(null);
	}

	private void reset(@Nullable String source) {
		this.state = new State(source);
		this.mark = 0;
	}

	/**
	 * At READ COMMITTED: each statement sees what was committed before it.
	 */
	private boolean advance(Connection connection) {
		List<Position> found = Statements.query(connection, POSITION, List.of(this.tables.event(), this.tables.event()),
				(row, number) -> new Position(row.getLong(1), row.getLong(2),
						row.getString(3) + " at " + server(row, 4)));
		if (found.isEmpty()) {
			return false;
		}
		Position position = found.get(0);
		if (!position.source().equals(this.state.source) || position.last() < this.state.candidate) {
			reset(position.source());
		}
		if (position.last() > this.state.settled) {
			this.state.settle(position.last(), writers(connection, position));
		}
		if (this.state.settled > this.state.mark) {
			this.state.mark = Math.min(this.state.settled, firstRow(connection, position) - 1);
		}
		return true;
	}

	private Set<String> writers(Connection connection, Position position) {
		return Statements
			.query(connection, WRITERS, List.of(position.table()),
					(row, number) -> StringUtils
						.commaDelimitedListToSet(position.check(row.getString(1), server(row, 2))))
			.get(0);
	}

	private long firstRow(Connection connection, Position position) {
		String sql = "select (select id from " + this.tables.event() + " where id > ? order by id limit 1), " + SERVER;
		String first = Statements
			.query(connection, sql, List.of(this.state.mark),
					(row, number) -> position.check(row.getString(1), server(row, 2)))
			.get(0);
		return first.isEmpty() ? Long.MAX_VALUE : Long.parseLong(first);
	}

	private static String server(ResultSet row, int column) throws SQLException {
		String server = row.getString(column);
		if (server == null) {
			throw new TransientDataAccessResourceException("The server is a standby");
		}
		return server;
	}

	/**
	 * Where the sequence is.
	 *
	 * @param last its last value
	 * @param table the table
	 * @param source the sequence and the server
	 */
	private record Position(long last, long table, String source) {

		/**
		 * Returns what was read from the same server, as a pool may have several.
		 */
		String check(@Nullable String read, String server) {
			if (!this.source.endsWith(" at " + server)) {
				throw new TransientDataAccessResourceException("Another server has answered");
			}
			return (read != null) ? read : "";
		}

	}

	/**
	 * What is known since the last reset.
	 */
	private static final class State {

		private final @Nullable String source;

		private final long since = System.nanoTime();

		private Set<String> writers = Set.of();

		private boolean known = true;

		/**
		 * The value of the sequence when the writers were read.
		 */
		private long candidate;

		/**
		 * Each row up to this one is visible or will never exist.
		 */
		private long settled;

		private long mark;

		State(@Nullable String source) {
			this.source = source;
		}

		private void settle(long last, Set<String> current) {
			if (current.stream().noneMatch((writer) -> writer.startsWith(PREPARED))
					&& Collections.disjoint(this.writers, current)) {
				this.settled = current.isEmpty() ? last : this.candidate;
				this.candidate = last;
				this.writers = current;
			}
		}

	}

}
