package dev.idempotent.saga.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
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
 * @param incompatibleRuns how often its journal did not fit the instance that had taken
 * it over, which does not count as an attempt
 * @param fingerprint the fingerprint of the arguments
 * @param arguments the arguments; {@code null} after its end
 * @param result the result, if it has completed
 * @param reason why it is undone or halted, or {@code null}
 * @param due the time until it can be taken over, not positive if it can; of an ended
 * saga, the rest of its retention; not positive if it is halted
 * @param age the time since it was created
 * @param createdAt when it was created
 * @param deadline its deadline
 * @param waitsFor the name of the wait because of which it has no owner, or {@code null}
 * @param traceparent the trace context in which it was created, or {@code null}
 * @param journal the entries, in the order of their numbers
 * @param unreadable why it cannot be read here, or {@code null}
 */
@SuppressWarnings("ArrayRecordComponent")
public record StoredSaga(SagaOwner owner, String name, SagaStatus status, int steps, int attempts, int incompatibleRuns,
		Fingerprint fingerprint, byte @Nullable [] arguments, byte @Nullable [] result, @Nullable String reason,
		Duration due, Duration age, Instant createdAt, Instant deadline, @Nullable String waitsFor,
		@Nullable String traceparent, List<StoredStep> journal, @Nullable String unreadable) {

	/**
	 * Creates a saga that was taken over and not read yet.
	 * @param owner the new owner
	 * @param name the name
	 * @param status the status
	 * @param attempts how often it was taken over without progress
	 * @param incompatibleRuns how often it did not fit an instance
	 * @return the saga without what is unknown
	 */
	public static StoredSaga unread(SagaOwner owner, String name, SagaStatus status, int attempts,
			int incompatibleRuns) {
		return new StoredSaga(owner, name, status, 0, attempts, incompatibleRuns, new Fingerprint(0, ""), null, null,
				null, Duration.ZERO, Duration.ZERO, Instant.EPOCH, Instant.EPOCH, null, null, List.of(),
				"The saga was not read");
	}

	/**
	 * Returns this saga as one that cannot be read.
	 * @param why why it cannot be read
	 * @return the saga
	 */
	public StoredSaga unreadable(String why) {
		return new StoredSaga(this.owner, this.name, this.status, this.steps, this.attempts, this.incompatibleRuns,
				this.fingerprint, this.arguments, this.result, this.reason, this.due, this.age, this.createdAt,
				this.deadline, this.waitsFor, this.traceparent, this.journal, why);
	}

	/**
	 * Returns whether it is open and has no owner.
	 * @return whether it can be taken over
	 */
	public boolean isDue() {
		return this.status.isOpen() && (this.due.isNegative() || this.due.isZero());
	}

	/**
	 * Returns whether its deadline has passed, by the clock of the database. Its age is
	 * in whole milliseconds.
	 * @return whether it has passed
	 */
	public boolean isLate() {
		return !this.createdAt.plus(this.age).plusMillis(1).isBefore(this.deadline);
	}

	/**
	 * Returns what applications see of it.
	 * @return the snapshot
	 */
	public SagaSnapshot toSnapshot() {
		return new SagaSnapshot(this.owner.id(), this.name, this.status, this.reason, this.attempts, this.createdAt,
				this.deadline, waiting(), this.journal.stream().map((step) -> step.toSnapshot(this.owner)).toList());
	}

	/**
	 * Returns what it waits for, or {@code null}.
	 */
	SagaSnapshot.@Nullable Waiting waiting() {
		Instant now = this.createdAt.plus(this.age);
		return this.journal.stream()
			.filter((step) -> step.entry().name().equals(this.waitsFor))
			.map((step) -> new SagaSnapshot.Waiting(step.entry().name(), step.entry().kind() == StepKind.SIGNAL,
					now.minus(step.age()), now.plus(this.due)))
			.findFirst()
			.orElse(null);
	}

}
