package dev.idempotent.saga.run;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.run.LeaveBody.Cause;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * One run of a saga by one owner: its status and its journal, and how they are written.
 * Used by one thread, except for what its renewal reads.
 */
final class SagaRun {

	/**
	 * The reason of a saga that is undone because of its deadline.
	 */
	static final String DEADLINE = "The saga did not complete before its deadline";

	private final RunResources resources;

	private final SagaDefinition definition;

	private final SagaOwner owner;

	private final byte[] arguments;

	private final @Nullable NewSaga fresh;

	private final @Nullable String flaw;

	private final Journal journal;

	private final long startedAt;

	private volatile SagaStatus status;

	private volatile Presence presence;

	private final AtomicInteger progress = new AtomicInteger();

	private int attempts;

	private int unfit;

	private String reason = DEADLINE;

	private boolean doubtful;

	/**
	 * Creates the run of a saga that its first step inserts.
	 */
	SagaRun(RunResources resources, SagaDefinition definition, NewSaga saga) {
		this.resources = resources;
		this.definition = definition;
		this.owner = saga.owner();
		this.arguments = saga.arguments();
		this.fresh = saga;
		this.flaw = null;
		this.journal = new Journal(0, List.of());
		this.startedAt = System.nanoTime();
		this.status = SagaStatus.EXECUTING;
		this.presence = Presence.ABSENT;
	}

	/**
	 * Creates the run of a saga that was taken over.
	 */
	SagaRun(RunResources resources, SagaDefinition definition, StoredSaga saga) {
		this.resources = resources;
		this.definition = definition;
		this.owner = saga.owner();
		this.arguments = Objects.requireNonNullElse(saga.arguments(), new byte[0]);
		this.fresh = null;
		this.flaw = saga.flaw();
		this.journal = new Journal(saga.steps(), saga.journal());
		this.startedAt = System.nanoTime() - saga.age().toNanos();
		this.status = saga.status();
		this.presence = Presence.STORED;
		this.attempts = saga.attempts();
		this.unfit = saga.unfit();
		this.reason = Objects.requireNonNullElse(saga.reason(), DEADLINE);
	}

	/**
	 * Writes entries in a transaction of their own, with all outcomes that are not
	 * written yet.
	 * @throws LeaveBody if the saga is not in the expected state, or that is unknown
	 */
	void write(JournalEntry... more) {
		boolean first = this.presence == Presence.ABSENT;
		List<JournalEntry> entries = this.journal.unwritten(more);
		int steps = first ? entries.stream().mapToInt(JournalEntry::number).max().orElse(0) : nextSteps();
		boolean written;
		try {
			written = first ? this.resources.store().insert(Objects.requireNonNull(this.fresh), entries)
					: this.resources.store().write(this.owner, this.status, steps, entries, lease());
		}
		catch (PessimisticLockingFailureException ex) {
			throw LeaveBody.because(first ? Cause.CONTENDED : Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
		catch (RuntimeException ex) {
			suspectWrite();
			throw LeaveBody.because(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
		if (!written) {
			throw LeaveBody.because(first ? Cause.EXISTS : Cause.LOST);
		}
		written(steps, entries);
	}

	/**
	 * Records a write of entries that has been committed.
	 */
	void written(int steps, List<JournalEntry> entries) {
		this.journal.written(steps, entries);
		this.presence = Presence.STORED;
		this.progress.incrementAndGet();
		this.attempts = 0;
	}

	/**
	 * Records the decision to compensate, which has been committed.
	 */
	void compensate(String because) {
		this.reason = because;
		this.status = SagaStatus.COMPENSATING;
		written(this.journal.steps(), this.journal.unwritten());
	}

	/**
	 * Records that a write may have been committed.
	 */
	void suspectWrite() {
		this.doubtful = true;
		this.presence = (this.presence == Presence.ABSENT) ? Presence.UNKNOWN : this.presence;
	}

	RunResources resources() {
		return this.resources;
	}

	SagaDefinition definition() {
		return this.definition;
	}

	SagaOwner owner() {
		return this.owner;
	}

	IdempotencyKey id() {
		return this.owner.id();
	}

	String name() {
		return this.definition.name();
	}

	/**
	 * The arguments, in their stored form.
	 */
	byte[] arguments() {
		return this.arguments;
	}

	/**
	 * Why this instance cannot run the saga, or {@code null}.
	 */
	@Nullable String flaw() {
		return this.flaw;
	}

	/**
	 * The saga that the first write inserts; {@code null} if it was taken over.
	 */
	@Nullable NewSaga fresh() {
		return this.fresh;
	}

	Journal journal() {
		return this.journal;
	}

	int nextSteps() {
		return this.journal.steps() + 1;
	}

	SagaStatus status() {
		return this.status;
	}

	boolean isCompensating() {
		return this.status == SagaStatus.COMPENSATING;
	}

	/**
	 * Whether the stored journal may contain more than this run knows. Then only another
	 * run, which reads it again, may undo the saga.
	 */
	boolean isDoubtful() {
		return this.doubtful;
	}

	/**
	 * Why the saga is undone.
	 */
	String reason() {
		return this.reason;
	}

	Presence presence() {
		return this.presence;
	}

	/**
	 * Whether there is a lease to renew.
	 */
	boolean isStored() {
		return this.presence == Presence.STORED;
	}

	/**
	 * A number that changes with each write.
	 */
	int progress() {
		return this.progress.get();
	}

	int attempts() {
		return this.attempts;
	}

	/**
	 * How often the journal did not fit an instance before this run.
	 */
	int unfit() {
		return this.unfit;
	}

	/**
	 * Writes the result of a step that can be read back.
	 * @throws SagaDefinition.UnreadableException if it cannot be read as the type
	 */
	byte[] writeReadable(Type type, @Nullable Object result) {
		byte[] written = this.definition.writeStepResult(type, result);
		@Nullable Object unused = this.definition.readStepResult(type, written);
		return written;
	}

	Duration lease() {
		return this.resources.settings().lease();
	}

	/**
	 * The time since the saga began.
	 */
	Duration age() {
		return Duration.ofNanos(System.nanoTime() - this.startedAt);
	}

	/**
	 * Whether the saga is stored.
	 */
	enum Presence {

		ABSENT, UNKNOWN, STORED

	}

}
