package dev.idempotent.saga.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.store.SagaOwner;
import org.jspecify.annotations.Nullable;

/**
 * The saga that a signal or a cancellation is for.
 *
 * @param haltedIn the status in which it was halted, or {@code null}
 * @param leased whether an owner has it
 * @param left the time until its deadline, by the clock of the database; negative
 * afterwards
 */
record SagaTarget(String name, SagaStatus status, @Nullable SagaStatus haltedIn, boolean leased, long generation,
		Duration left) {

	/**
	 * Finds a saga.
	 * @param lock what follows the condition, such as {@code " for update"}
	 */
	static @Nullable SagaTarget find(SagaSql sql, IdempotencyKey saga, String lock) {
		return sql
			.queryById(
					"select id, name, status, halted_in, owner, " + sql.database().microsUntil("due_at")
							+ " as micros_due, epoch, " + sql.database().microsUntil("deadline")
							+ " as micros_left from " + sql.instance() + " where id = ?" + lock,
					List.of(saga.digest()), SagaTarget::read)
			.stream()
			.findFirst()
			.orElse(null);
	}

	private static SagaTarget read(ResultSet row, int number) throws SQLException {
		String haltedIn = row.getString("halted_in");
		return new SagaTarget(row.getString("name"), SagaStatus.valueOf(row.getString("status")),
				(haltedIn != null) ? SagaStatus.valueOf(haltedIn) : null,
				row.getString("owner") != null && row.getLong("micros_due") > 0,
				new SagaOwner(new IdempotencyKey(row.getString("id")), row.getLong("epoch")).generation(),
				Duration.of(row.getLong("micros_left"), ChronoUnit.MICROS));
	}

	/**
	 * Whether its method runs or will run, or was halted.
	 */
	boolean isForward() {
		return switch (this.status) {
			case STARTED, EXECUTING -> true;
			case HALTED -> this.haltedIn == SagaStatus.EXECUTING;
			case COMPENSATING, COMPLETED, COMPENSATED -> false;
		};
	}

	/**
	 * Whether it has ended or will be undone.
	 */
	boolean isLate() {
		return !isForward() || this.left.isNegative() || this.left.isZero();
	}

}
