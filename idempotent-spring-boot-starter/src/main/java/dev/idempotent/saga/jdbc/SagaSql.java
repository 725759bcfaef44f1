package dev.idempotent.saga.jdbc;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.jdbc.Database;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;

/**
 * Expressions over the tables.
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

	private static final Set<StepState> UNENDED = EnumSet.of(StepState.ACTING, StepState.COMPENSATING);

	private SagaSql() {
	}

	/**
	 * The end of a lease, at most the deadline unless the saga is undone.
	 * @return an expression whose only parameter is the lease in milliseconds
	 */
	static String lease(Database database) {
		return lease(database, "status = 'COMPENSATING'");
	}

	/**
	 * The end of the lease of a saga that is taken over, with the condition of
	 * {@link #isUndone}.
	 * @return an expression whose only parameter is the lease in milliseconds
	 */
	static String leaseAfterTakeOver(Database database) {
		return lease(database, isUndone(database));
	}

	/**
	 * The condition that the next owner of a saga undoes it.
	 */
	static String isUndone(Database database) {
		return "status = 'COMPENSATING' or deadline <= " + database.now();
	}

	private static String lease(Database database, String unlimited) {
		String never = (database == Database.MYSQL) ? "timestamp '9999-12-31 00:00:00'"
				: "timestamp with time zone '9999-12-31 00:00:00+00'";
		return "least(" + database.millisFromNow() + ", case when " + unlimited + " then " + never
				+ " else deadline end)";
	}

	/**
	 * The condition that a saga can be written in a status.
	 */
	static String inTime(SagaStatus status, Database database) {
		return (status == SagaStatus.COMPENSATING) ? "" : " and deadline > " + database.now();
	}

	/**
	 * The time at which the undo of a step in this state begins.
	 */
	static String compensatingAt(StepState state, Database database) {
		return (state == StepState.COMPENSATING) ? database.now() : "null";
	}

	/**
	 * The time at which the action or undo of a step in this state has ended.
	 */
	static String endedAt(StepState state, Database database) {
		return UNENDED.contains(state) ? "null" : database.now();
	}

}
