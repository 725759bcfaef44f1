package dev.idempotent.saga.run;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

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
 * @param unreadable why it cannot be read here, or {@code null}
 */
@SuppressWarnings("ArrayRecordComponent")
public record StoredSaga(SagaOwner owner, String name, SagaStatus status, int steps, int attempts, int unfit,
		Fingerprint fingerprint, byte @Nullable [] arguments, byte @Nullable [] result, @Nullable String reason,
		Duration due, Duration age, Instant createdAt, Instant deadline, List<StoredStep> journal,
		@Nullable String unreadable) {

	/**
	 * Creates a saga that was taken over and then could not be read.
	 * @param owner the new owner
	 * @param name the name
	 * @param status the status
	 * @param attempts how often it was taken over without progress
	 * @param unfit how often it did not fit an instance
	 * @param why why it could not be read
	 * @return the saga without what is unknown
	 */
	public static StoredSaga unreadable(SagaOwner owner, String name, SagaStatus status, int attempts, int unfit,
			String why) {
		return new StoredSaga(owner, name, status, 0, attempts, unfit, new Fingerprint(0, ""), null, null, null,
				Duration.ZERO, Duration.ZERO, Instant.EPOCH, Instant.EPOCH, List.of(), why);
	}

	/**
	 * Returns why an open saga cannot be run, or {@code null} if it is complete: it has
	 * its arguments and all entries from the first on, each with a name of its own.
	 */
	@Nullable String flaw() {
		if (this.unreadable != null) {
			return this.unreadable;
		}
		if (this.arguments == null) {
			return "The stored saga has no arguments";
		}
		Set<String> names = new HashSet<>();
		for (StoredStep step : this.journal) {
			if (!names.add(step.entry().name()) || step.entry().number() != names.size()) {
				return "The stored step '" + step.entry().name() + "' does not follow those before it";
			}
		}
		return null;
	}

	/**
	 * Returns whether it is open and has no owner.
	 */
	boolean isDue() {
		return this.status.isOpen() && (this.due.isNegative() || this.due.isZero());
	}

	/**
	 * Returns whether its deadline has passed, by the clock of the database. Its age is
	 * in whole milliseconds.
	 */
	boolean isLate() {
		return !this.createdAt.plus(this.age).plusMillis(1).isBefore(this.deadline);
	}

	/**
	 * Returns what applications see of it.
	 * @return the snapshot
	 */
	public SagaSnapshot toSnapshot() {
		IdempotencyKey id = this.owner.id();
		return new SagaSnapshot(id, this.name, this.status, this.reason, this.attempts, this.createdAt, this.deadline,
				this.journal.stream().map((step) -> step.toSnapshot(this.owner)).toList());
	}

}
