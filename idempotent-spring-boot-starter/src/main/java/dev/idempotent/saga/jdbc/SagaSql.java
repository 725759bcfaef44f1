package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.RowMapper;

/**
 * Statements on the tables of sagas, on a connection of the caller. The tables may have
 * been empty when PostgreSQL planned the last execution. So it plans each one, except for
 * those that find their rows by ids.
 */
final class SagaSql {

	static final List<SagaStatus> OPEN = List.of(SagaStatus.COMPENSATING, SagaStatus.EXECUTING, SagaStatus.STARTED);

	static final List<SagaStatus> ENDED = List.of(SagaStatus.COMPLETED, SagaStatus.COMPENSATED);

	/**
	 * The status in conditions of rows that are found by their ids. PostgreSQL would
	 * otherwise prefer the index of the status while statistics count few open sagas, and
	 * read all of them with the dead versions of those that have ended.
	 */
	static final String UNINDEXED_STATUS = "coalesce(status, '')";

	/**
	 * The condition that a saga that is found by its id is open.
	 */
	static final String IS_OPEN = UNINDEXED_STATUS + " in ('COMPENSATING', 'EXECUTING', 'STARTED')";

	/**
	 * With the index of the ids, one plan suits any number of rows. PostgreSQL would plan
	 * a statement for a few rows each time, which takes several times longer than to
	 * execute it.
	 */
	private static final String BY_INDEX = "select set_config('idempotent.seqscan', current_setting('enable_seqscan'), "
			+ "true), set_config('enable_seqscan', 'off', true); ";

	/**
	 * The statements of the application follow in the same transaction. Without a
	 * transaction, the setting has ended if the driver sends each statement in a
	 * transaction of its own, as in the simple protocol.
	 */
	private static final String AS_BEFORE = "; select set_config('enable_seqscan', coalesce(nullif("
			+ "current_setting('idempotent.seqscan', true), ''), current_setting('enable_seqscan')), true)";

	private final Connection connection;

	private final Database database;

	private final SagaTables tables;

	private Duration longestWait = Duration.ZERO;

	SagaSql(Connection connection, Database database, SagaTables tables) {
		this.connection = connection;
		this.database = database;
		this.tables = tables;
	}

	/**
	 * Limits how long PostgreSQL keeps the transaction, which begins with the next
	 * statement, without hearing of it, and lets it wait for a lock.
	 */
	void limitWaits(Duration limit) {
		this.longestWait = limit;
	}

	/**
	 * The limit, or zero for none.
	 */
	Duration longestWait() {
		return this.longestWait;
	}

	Connection connection() {
		return this.connection;
	}

	Database database() {
		return this.database;
	}

	/**
	 * The table of sagas.
	 */
	String instance() {
		return this.tables.instance();
	}

	/**
	 * The table of the steps of sagas.
	 */
	String step() {
		return this.tables.step();
	}

	/**
	 * The table of the signals that were sent to sagas, and of those they wait for.
	 */
	String signal() {
		return this.tables.signal();
	}

	/**
	 * The end of the lease of an owner. Not limited by the deadline: the owner is the
	 * only one who knows whether an action runs, and undoes the saga after that.
	 * @return an expression whose only parameter is the lease in milliseconds
	 */
	String lease() {
		return this.database.millisFromNow();
	}

	/**
	 * The same, but unchanged while at least two thirds of the lease are left: then no
	 * index changes, and PostgreSQL writes the new version of the row beside the old one.
	 * @return an expression with two parameters, two thirds of the lease and the lease in
	 * milliseconds
	 */
	String keptLease() {
		return "case when due_at > " + this.database.millisFromNow() + " then due_at else " + lease() + " end";
	}

	/**
	 * When a saga without an owner can be taken over: after a delay, and at the deadline
	 * unless it is undone already.
	 * @return an expression whose only parameter is the delay in milliseconds
	 */
	String delay() {
		return "least(" + this.database.millisFromNow() + ", case when status = 'COMPENSATING' then "
				+ this.database.never() + " else deadline end)";
	}

	/**
	 * The condition that a saga can be written in a status.
	 */
	String inTime(SagaStatus status) {
		return (status == SagaStatus.COMPENSATING) ? "" : " and deadline > " + this.database.now();
	}

	/**
	 * The condition that the preceding column has one of some values.
	 */
	static String in(int values) {
		return " in (" + String.join(", ", Collections.nCopies(values, "?")) + ")";
	}

	/**
	 * Executes a query that PostgreSQL plans each time.
	 */
	<T> List<T> query(String sql, List<? extends @Nullable Object> parameters, RowMapper<T> mapper) {
		return Statements.run(this.connection, sql, true, parameters,
				(statement) -> Statements.rows(statement, mapper));
	}

	/**
	 * Executes a change that PostgreSQL plans each time.
	 */
	int update(String sql, @Nullable Object... parameters) {
		return Statements.run(this.connection, sql, true, Arrays.asList(parameters), PreparedStatement::executeUpdate);
	}

	/**
	 * Executes a query that finds all rows by ids of sagas.
	 */
	<T> List<T> queryById(String sql, List<? extends @Nullable Object> parameters, RowMapper<T> mapper) {
		return byId(sql, parameters, (statement) -> Statements.results(statement, mapper));
	}

	boolean existsById(String sql, @Nullable Object... parameters) {
		return !queryById(sql, Arrays.asList(parameters), (row, number) -> row.getInt(1)).isEmpty();
	}

	/**
	 * Executes a change that finds all rows by ids of sagas.
	 */
	int updateById(String sql, List<? extends @Nullable Object> parameters) {
		return byId(sql, parameters, PreparedStatement::getUpdateCount);
	}

	/**
	 * Executes a statement, on PostgreSQL with its settings in one round trip. Without a
	 * transaction, that is the transaction in which they apply. A failure takes them
	 * back, too.
	 */
	private <T> T byId(String sql, List<? extends @Nullable Object> parameters, PreparedStatementCallback<T> result) {
		boolean postgres = this.database == Database.POSTGRESQL;
		String limit = this.longestWait.isZero() ? "" : "; select " + Statements.limitWaits(this.longestWait);
		return Statements.run(this.connection, postgres ? BY_INDEX + sql + AS_BEFORE + limit : sql, false, parameters,
				(statement) -> {
					statement.execute();
					if (postgres) {
						statement.getMoreResults();
					}
					return result.doInPreparedStatement(statement);
				});
	}

}
