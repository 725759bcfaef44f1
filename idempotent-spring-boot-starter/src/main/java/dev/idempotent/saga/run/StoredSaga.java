package dev.idempotent.saga.run;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;

/**
 * A saga as it is stored.
 *
 * @param owner the id and the epoch
 * @param name the name
 * @param status the status
 * @param steps how many times a step has begun
 * @param attempts how often it was taken over without progress
 * @param unfit how often its journal did not fit the instance that had taken it over,
 * which does not count as an attempt
 * @param fingerprint the fingerprint of the arguments
 * @param arguments the arguments; {@code null} after its end
 * @param result the result, if it has completed
 * @param reason why it is undone or halted, or {@code null}
 * @param due the time until it can be taken over, not positive if it can; of an ended
 * saga, the rest of its retention; zero if it is halted
 * @param age the time since it was created
 * @param createdAt when it was created
 * @param deadline its deadline
 * @param journal the entries, in the order of their numbers
 */
@SuppressWarnings("ArrayRecordComponent")
public record StoredSaga(SagaOwner owner, String name, SagaStatus status, int steps, int attempts, int unfit,
		Fingerprint fingerprint, byte @Nullable [] arguments, byte @Nullable [] result, @Nullable String reason,
		Duration due, Duration age, Instant createdAt, Instant deadline, List<StoredStep> journal) {

	/**
	 * Returns whether it is open and has no owner.
	 */
	boolean isDue() {
		return this.status.isOpen() && (this.due.isNegative() || this.due.isZero());
	}

	/**
	 * Returns what applications see of it.
	 * @return the snapshot
	 */
	public SagaSnapshot toSnapshot() {
		IdempotencyKey id = this.owner.id();
		return new SagaSnapshot(id, this.name, this.status, this.reason, this.attempts, this.createdAt, this.deadline,
				this.journal.stream().map(StoredStep::toSnapshot).toList());
	}

}
