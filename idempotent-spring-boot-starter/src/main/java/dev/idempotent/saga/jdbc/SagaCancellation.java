package dev.idempotent.saga.jdbc;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.Cancellation;
import org.jspecify.annotations.Nullable;

/**
 * Cancels sagas, for the application and for operators, within the transaction of the
 * caller.
 * <p>
 * A halted saga has no owner, and is undone at once. The deadline of any other one
 * becomes a time that is long ago, so that no write of its owner meets it: a write that
 * waits for this transaction may have read the clock before.
 */
final class SagaCancellation {

	/**
	 * How long before now the deadline of a cancelled saga is: longer than a write may
	 * wait for a lock after it has read the clock, and than clocks of servers differ.
	 */
	static final Duration LONG_AGO = Duration.ofDays(1);

	/**
	 * How long before now the lease of an aborted saga has ended: longer than a renewal
	 * may wait after it has read the clock.
	 */
	static final Duration ENDED_BEFORE = Duration.ofMinutes(1);

	private final SagaSql sql;

	SagaCancellation(SagaSql sql) {
		this.sql = sql;
	}

	/**
	 * Cancels a saga. Waits for a step of it that runs in a transaction, and leaves a
	 * running action to its owner.
	 */
	Cancellation cancel(IdempotencyKey saga, String reason) {
		SagaTarget target = SagaTarget.find(this.sql, saga, " for update");
		if (target == null) {
			return new Cancellation(null, null);
		}
		if (!target.isForward()) {
			return new Cancellation(target.status(), null);
		}
		undo(target, saga, reason,
				"case when owner is null or status = 'STARTED' then " + this.sql.database().now() + " else due_at end");
		return new Cancellation(SagaStatus.COMPENSATING, target.name());
	}

	/**
	 * Cancels a saga that may hang: takes it away from its owner, also if it is late or
	 * cancelled already, and does not wait for a step that runs in a transaction.
	 * @return {@code false} if it is not cancelled by this call
	 */
	boolean abort(IdempotencyKey saga, String reason) {
		SagaTarget target = SagaTarget.find(this.sql, saga, " for update skip locked");
		if (target == null || !target.isForward()) {
			return false;
		}
		if (target.status() != SagaStatus.HALTED && target.isLate() && !target.leased()) {
			return false;
		}
		undo(target, saga, reason, this.sql.database().now());
		this.sql.updateById(
				"update " + this.sql.instance() + " set due_at = " + this.sql.database().millisFromNow()
						+ " where id = ? and " + SagaSql.UNINDEXED_STATUS + " = 'EXECUTING'",
				List.<Object>of(-ENDED_BEFORE.toMillis(), saga.digest()));
		return true;
	}

	/**
	 * Undoes a saga whose row is locked. One that is late keeps its reason.
	 * @param due when other instances can take it over from its owner
	 */
	private void undo(SagaTarget target, IdempotencyKey saga, String reason, String due) {
		String now = this.sql.database().now();
		if (target.status() == SagaStatus.HALTED) {
			this.sql.updateById("update " + this.sql.instance()
					+ " set status = 'COMPENSATING', halted_in = null, halt_reason = null, "
					+ "reason = ?, owner = null, attempts = 0, unfit = 0, epoch = epoch + 1, due_at = " + now
					+ " where id = ?", Arrays.<@Nullable Object>asList(SagaStore.text(reason), saga.digest()));
		}
		else {
			String first = target.isLate() ? null : SagaStore.text(reason);
			this.sql.updateById(
					"update " + this.sql.instance() + " set reason = coalesce(?, reason), due_at = " + due
							+ ", deadline = " + this.sql.database().millisFromNow() + " where id = ?",
					Arrays.<@Nullable Object>asList(first, -LONG_AGO.toMillis(), saga.digest()));
		}
	}

}
