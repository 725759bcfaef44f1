package dev.idempotent.saga.engine;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

import dev.idempotent.concurrent.Observers;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadCipherException;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaObserver;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.Wait;
import dev.idempotent.saga.store.SagaStore.WaitEnd;
import dev.idempotent.saga.store.StepKind;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.saga.store.StoredStep;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * One run of a saga by one owner: its status, its journal, and the time limit of the call
 * in progress. Used by one thread, except for what its renewal reads.
 */
final class SagaRun {

	/**
	 * The reason of a saga that is undone because of its deadline.
	 */
	static final String DEADLINE = "The saga did not complete before its deadline";

	private final Resources resources;

	private final SagaDefinition definition;

	private final SagaOwner owner;

	private final byte[] arguments;

	private final @Nullable NewSaga fresh;

	private final @Nullable String problem;

	private final long startedAt;

	private final Journal journal = new Journal();

	private int steps;

	private volatile SagaStatus status;

	private volatile Presence presence;

	private volatile long progressAt = System.nanoTime();

	private int attempts;

	private int incompatibleRuns;

	private String reason = DEADLINE;

	private boolean doubtful;

	private boolean advanced;

	private @Nullable TimedCall timed;

	private volatile boolean abandoned;

	private volatile boolean waiting;

	/**
	 * Creates the run of a saga that its first step inserts.
	 */
	SagaRun(Resources resources, SagaDefinition definition, NewSaga saga) {
		this.resources = resources;
		this.definition = definition;
		this.owner = saga.owner();
		this.arguments = saga.arguments();
		this.fresh = saga;
		this.problem = null;
		this.startedAt = this.progressAt;
		this.status = SagaStatus.EXECUTING;
		this.presence = Presence.ABSENT;
	}

	/**
	 * Creates the run of a saga that was taken over.
	 */
	SagaRun(Resources resources, SagaDefinition definition, StoredSaga saga) {
		this.resources = resources;
		this.definition = definition;
		this.owner = saga.owner();
		this.arguments = Objects.requireNonNullElse(saga.arguments(), new byte[0]);
		this.fresh = null;
		this.problem = problemOf(saga);
		this.startedAt = this.progressAt - saga.age().toNanos();
		this.status = saga.status();
		this.presence = Presence.STORED;
		this.steps = saga.steps();
		this.attempts = saga.attempts();
		this.incompatibleRuns = saga.incompatibleRuns();
		this.reason = Objects.requireNonNullElse(saga.reason(), DEADLINE);
		if (this.problem == null) {
			saga.journal().forEach((step) -> this.journal.restore(step, this.progressAt));
		}
	}

	/**
	 * Returns why an open saga cannot be run, or {@code null} if it is complete: it has
	 * its arguments and all entries from the first on, each with a name of its own.
	 */
	private static @Nullable String problemOf(StoredSaga saga) {
		if (saga.unreadable() != null) {
			return saga.unreadable();
		}
		if (saga.arguments() == null) {
			return HaltReason.NO_ARGUMENTS.text();
		}
		Set<String> names = new HashSet<>();
		for (StoredStep step : saga.journal()) {
			if (!names.add(step.entry().name()) || step.entry().number() != names.size()) {
				return HaltReason.STEP_MISSING.text(step.entry().name());
			}
		}
		return null;
	}

	/**
	 * Writes entries in a transaction of their own, with all outcomes that are not
	 * written yet.
	 * @throws RunAbortedError if the saga is not in the expected state, or that is
	 * unknown
	 */
	void write(JournalEntry... more) {
		boolean first = this.presence == Presence.ABSENT;
		List<JournalEntry> written = this.journal.unwritten(more);
		int next = first ? written.stream().mapToInt(JournalEntry::number).max().orElse(0) : nextSteps();
		boolean done;
		try {
			done = first ? store().insert(Objects.requireNonNull(this.fresh), written)
					: store().write(this.owner, this.status, next, written, lease());
		}
		catch (PessimisticLockingFailureException ex) {
			throw new RunAbortedError(first ? Cause.CONTENDED : Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
		catch (RuntimeException ex) {
			suspectWrite();
			throw new RunAbortedError(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
		if (!done) {
			throw new RunAbortedError(first ? Cause.EXISTS : Cause.LOST);
		}
		written(next, written);
	}

	/**
	 * Ends a wait that is recorded.
	 * @param limit how long it lasts if no signal ends it
	 * @param expired the entry to record when that time has passed
	 * @return the entry with the outcome
	 * @throws RunAbortedError if the saga goes on to wait, is not in the expected state,
	 * or that is unknown
	 */
	JournalEntry endWait(JournalEntry entry, Duration limit, JournalEntry expired) {
		WaitEnd end;
		// The next owner, after the release, may be faster than this thread.
		this.waiting = true;
		try {
			end = store().endWait(this.owner, this.steps, new Wait(entry, limit, expired), lease());
		}
		catch (RuntimeException ex) {
			this.waiting = false;
			suspectWrite();
			throw new RunAbortedError(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
		if (end.due() != null) {
			throw RunAbortedError.waiting(entry.name(), end.due());
		}
		this.waiting = false;
		if (end.entry() == null) {
			throw new RunAbortedError(Cause.LOST);
		}
		JournalEntry ended = end.entry();
		written(this.steps, List.of(ended));
		Duration took = this.journal.age(ended.name());
		this.resources.observers().each((observer) -> observer.waited(name(), ended.name(), ended.state(), took));
		return ended;
	}

	/**
	 * Whether the saga is or was released until a wait ends, so that another run may have
	 * it.
	 */
	boolean isWaiting() {
		return this.waiting;
	}

	/**
	 * Returns the entry of a wait that ends with its time.
	 */
	JournalEntry slept(JournalEntry entry) {
		return done(entry, Void.class, null);
	}

	/**
	 * Records a write of entries that has been committed.
	 */
	void written(int newSteps, List<JournalEntry> written) {
		this.steps = newSteps;
		long now = System.nanoTime();
		this.journal.written(written, now);
		this.presence = Presence.STORED;
		this.progressAt = now;
		this.advanced = true;
		this.attempts = 0;
	}

	/**
	 * Records the decision to compensate, which has been committed.
	 */
	void compensate(String because) {
		this.reason = because;
		this.status = SagaStatus.COMPENSATING;
		written(this.steps, this.journal.unwritten());
	}

	/**
	 * Records that a write may have been committed.
	 */
	void suspectWrite() {
		this.doubtful = true;
		this.presence = (this.presence == Presence.ABSENT) ? Presence.UNKNOWN : this.presence;
	}

	/**
	 * Calls the action or the undo of a step, and reports the call to the observers.
	 * @param call returns the entry with the outcome
	 */
	JournalEntry observe(String step, Supplier<JournalEntry> call) {
		long start = System.nanoTime();
		StepState state = null;
		try {
			JournalEntry outcome = call.get();
			state = outcome.state();
			return outcome;
		}
		finally {
			StepState ended = state;
			Duration took = Duration.ofNanos(System.nanoTime() - start);
			this.resources.observers().each((observer) -> observer.called(name(), step, ended, took));
		}
	}

	/**
	 * Calls the action or the undo of a step within a time limit. After that the run is
	 * abandoned: what comes back counts for nothing.
	 * @throws RunAbortedError if the call has returned or failed after the limit
	 */
	<T extends @Nullable Object> T limited(String step, Duration limit, Supplier<T> call) {
		synchronized (this) {
			this.timed = new TimedCall(step, limit, System.nanoTime(), Thread.currentThread());
		}
		T result;
		try {
			result = call.get();
		}
		finally {
			endOfCall();
		}
		return result;
	}

	/**
	 * The interrupt was meant for the call.
	 */
	@SuppressWarnings("Finally")
	private synchronized void endOfCall() {
		this.timed = null;
		if (this.abandoned) {
			boolean unused = Thread.interrupted();
			throw new RunAbortedError(Cause.ABANDONED);
		}
	}

	/**
	 * Abandons the run if a call has taken longer than its time limit, and interrupts
	 * that call. From then on, only the caller uses the run.
	 * @return why, or {@code null} if it goes on
	 */
	synchronized @Nullable RunAbortedError abandonIfLate() {
		TimedCall call = this.timed;
		if (call == null || this.abandoned || System.nanoTime() - call.startedAt() < call.limit().toNanos()) {
			return null;
		}
		this.abandoned = true;
		this.doubtful = true;
		call.thread().interrupt();
		return new RunAbortedError(Cause.UNKNOWN, HaltReason.TIME_LIMIT.text(call.step(), call.limit()), null);
	}

	/**
	 * Whether the run was abandoned in a call that has not returned in time.
	 */
	boolean isAbandoned() {
		return this.abandoned;
	}

	/**
	 * Returns the entry of an action that is done, with a result that can be read back.
	 * @throws SagaDefinition.UnreadableException if it cannot be read as its type
	 */
	JournalEntry done(JournalEntry entry, Type type, @Nullable Object result) {
		byte[] written = this.definition.writeStepResult(type, result);
		@Nullable Object unused = this.definition.readStepResult(type, written);
		return entry.done(this.resources.values().seal(written, id(), Values.resultOf(entry.name())));
	}

	/**
	 * Reads the recorded result of a step.
	 * @throws RunAbortedError if it cannot be read
	 */
	@Nullable Object resultOf(JournalEntry entry, Type type) {
		try {
			return this.definition.readStepResult(type, this.resources.values()
				.unseal(Objects.requireNonNull(entry.result()), id(), Values.resultOf(entry.name())));
		}
		catch (SagaDefinition.UnreadableException ex) {
			throw new RunAbortedError(Cause.INCOMPATIBLE, HaltReason.RECORDED_RESULT_NOT_READABLE.text(entry.name()),
					ex);
		}
	}

	/**
	 * Reads the value of a signal that has arrived.
	 * @throws RunAbortedError if it cannot be read, or has none although its wait has a
	 * type
	 */
	@Nullable Object signalOf(JournalEntry entry, Type type) {
		byte[] stored;
		try {
			stored = this.resources.values()
				.unseal(Objects.requireNonNull(entry.result()), id(), Values.resultOf(entry.name()));
		}
		catch (SagaDefinition.UnreadableException ex) {
			throw new RunAbortedError(Cause.INCOMPATIBLE, String.valueOf(ex.getMessage()), ex);
		}
		try {
			Object value = this.definition.readSignal(type, stored);
			if (value == null && type != Void.class) {
				throw new SagaDefinition.UnreadableException("The signal has no value", null);
			}
			return value;
		}
		catch (SagaDefinition.UnreadableException ex) {
			throw new RunAbortedError(Cause.INCOMPATIBLE,
					HaltReason.SIGNAL_NOT_READABLE.text(entry.name(), type.getTypeName()), ex);
		}
	}

	Resources resources() {
		return this.resources;
	}

	Journal journal() {
		return this.journal;
	}

	SagaStore store() {
		return this.resources.store();
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
	 * Reads the arguments.
	 * @throws SagaDefinition.UnreadableException if they cannot be read
	 */
	byte[] arguments() {
		return this.resources.values().unseal(this.arguments, id(), Values.ARGUMENTS);
	}

	/**
	 * Why this instance cannot run the saga, or {@code null}.
	 */
	@Nullable String problem() {
		return this.problem;
	}

	/**
	 * The saga that the first write inserts; {@code null} if it was taken over.
	 */
	@Nullable NewSaga fresh() {
		return this.fresh;
	}

	int nextSteps() {
		return this.steps + 1;
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
	 * Whether an earlier owner may have begun the next step without a record of it, as in
	 * a transaction that was rolled back. Not after a write of this run, which proves
	 * that no one has gone further, and not in the first run of a started saga.
	 */
	boolean mayRepeat() {
		return this.fresh == null && !this.advanced && !(this.steps == 0 && this.owner.isSecond());
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
	 * When the run has begun, or was written for the last time.
	 * @return a value of {@link System#nanoTime}
	 */
	long progressAt() {
		return this.progressAt;
	}

	int attempts() {
		return this.attempts;
	}

	/**
	 * How often the journal did not fit an instance before this run.
	 */
	int incompatibleRuns() {
		return this.incompatibleRuns;
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
	 * The steps of a saga as its owner knows them: what is stored, and the outcomes that
	 * the next write stores. Not safe for use by several threads.
	 */
	static final class Journal {

		private final List<JournalEntry> entries = new ArrayList<>();

		private final Set<Integer> unwritten = new LinkedHashSet<>();

		private final Map<String, Long> begun = new HashMap<>();

		private final Map<String, Long> compensating = new HashMap<>();

		/**
		 * Adds a step that was read from the store.
		 * @param now the {@link System#nanoTime()} at which it was read
		 */
		void restore(StoredStep step, long now) {
			JournalEntry entry = step.entry();
			put(entry);
			this.begun.put(entry.name(), now - step.age().toNanos());
			if (entry.state() == StepState.COMPENSATING) {
				this.compensating.put(entry.name(), now - step.compensatingFor().toNanos());
			}
		}

		/**
		 * Returns the step that was begun in a place, counted from 1, or {@code null}.
		 */
		@Nullable JournalEntry at(int place) {
			return (place <= this.entries.size()) ? this.entries.get(place - 1) : null;
		}

		/**
		 * Returns a new entry in the next place.
		 */
		JournalEntry begin(String step, StepKind kind) {
			return new JournalEntry(step, this.entries.size() + 1, kind, StepState.ACTING, null, null, 0, null);
		}

		/**
		 * Keeps a change of an entry until the next write.
		 */
		JournalEntry keep(JournalEntry entry) {
			put(entry);
			this.unwritten.add(entry.number());
			return entry;
		}

		/**
		 * Returns what the next write contains.
		 * @param more changes that are not kept yet, or that replace kept ones
		 */
		List<JournalEntry> unwritten(JournalEntry... more) {
			Map<Integer, JournalEntry> written = new LinkedHashMap<>();
			this.unwritten.forEach((number) -> written.put(number, this.entries.get(number - 1)));
			for (JournalEntry entry : more) {
				written.put(entry.number(), entry);
			}
			return List.copyOf(written.values());
		}

		/**
		 * Records a write that has been committed.
		 * @param now its {@link System#nanoTime()}
		 */
		void written(List<JournalEntry> written, long now) {
			for (JournalEntry entry : written) {
				put(entry);
				this.begun.putIfAbsent(entry.name(), now);
				if (entry.state() == StepState.COMPENSATING) {
					this.compensating.putIfAbsent(entry.name(), now);
				}
			}
			this.unwritten.clear();
		}

		/**
		 * Returns the entries that must still be undone, the last one first.
		 */
		List<JournalEntry> toUndo() {
			List<JournalEntry> all = new ArrayList<>(this.entries);
			all.removeIf((entry) -> !entry.isToUndo());
			Collections.reverse(all);
			return all;
		}

		/**
		 * Returns the time since a step began; zero if that is not written.
		 */
		Duration age(String step) {
			return since(this.begun.get(step));
		}

		/**
		 * Returns the time since the undo of a step began; zero if that is not written.
		 */
		Duration compensatingFor(String step) {
			return since(this.compensating.get(step));
		}

		private void put(JournalEntry entry) {
			if (entry.number() > this.entries.size()) {
				this.entries.add(entry);
			}
			else {
				this.entries.set(entry.number() - 1, entry);
			}
		}

		private static Duration since(@Nullable Long nanos) {
			return (nanos != null) ? Duration.ofNanos(System.nanoTime() - nanos) : Duration.ZERO;
		}

	}

	/**
	 * The stored form of the arguments and results of sagas: one byte that states whether
	 * the rest is encrypted, and the rest, which is bound to its saga and its place.
	 *
	 * @param encryption protects the values
	 */
	record Values(PayloadEncryption encryption) {

		/**
		 * The place of the arguments.
		 */
		static final String ARGUMENTS = "arguments";

		/**
		 * The place of the result of the saga.
		 */
		static final String RESULT = "result";

		private static final byte PLAIN = 1;

		private static final byte ENCRYPTED = 2;

		/**
		 * The place of the result of a step.
		 */
		static String resultOf(String step) {
			return "step:" + step;
		}

		/**
		 * Returns the stored form of a value.
		 */
		byte[] seal(byte[] plain, IdempotencyKey id, String place) {
			PayloadCipher cipher = this.encryption.cipher();
			byte[] rest = (cipher != null) ? cipher.encrypt(plain, context(id, place)) : plain;
			byte[] stored = new byte[rest.length + 1];
			stored[0] = (cipher != null) ? ENCRYPTED : PLAIN;
			System.arraycopy(rest, 0, stored, 1, rest.length);
			return stored;
		}

		/**
		 * Reads the stored form.
		 * @throws SagaDefinition.UnreadableException if it cannot be read
		 */
		byte[] unseal(byte[] stored, IdempotencyKey id, String place) {
			byte[] rest = (stored.length > 0) ? Arrays.copyOfRange(stored, 1, stored.length) : stored;
			if (stored.length > 0 && stored[0] == PLAIN && this.encryption.readPlaintext()) {
				return rest;
			}
			if (stored.length == 0 || stored[0] != ENCRYPTED) {
				throw new SagaDefinition.UnreadableException(HaltReason.FORMAT_NOT_ACCEPTED.text(place), null);
			}
			try {
				return this.encryption.decrypt(rest, context(id, place));
			}
			catch (PayloadCipherException ex) {
				throw new SagaDefinition.UnreadableException(
						HaltReason.VALUE_NOT_DECRYPTED.text(place, ex.getMessage()), ex);
			}
		}

		private static byte[] context(IdempotencyKey id, String place) {
			return PayloadEncryption.context("saga", id.digest(), place);
		}

	}

	/**
	 * A call that is in progress.
	 */
	private record TimedCall(String step, Duration limit, long startedAt, Thread thread) {
	}

	/**
	 * Whether the saga is stored.
	 */
	enum Presence {

		ABSENT, UNKNOWN, STORED

	}

	/**
	 * The collaborators that all runs of an engine share.
	 *
	 * @param store the journal of all sagas
	 * @param transactions the transactions of steps, on the database of the journal
	 * @param settings the settings
	 * @param failures classifies exceptions
	 * @param values the stored form of arguments and results
	 * @param observers observe the sagas
	 * @param unobserved the sagas that were warned of because no call was observed
	 */
	record Resources(SagaStore store, PlatformTransactionManager transactions, SagaSettings settings,
			FailureClassifier failures, Values values, Observers<SagaObserver> observers, Set<String> unobserved) {
	}

}
