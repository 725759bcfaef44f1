package dev.idempotent.saga.engine;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.SagaWait;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.StepKind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One execution of the method of a saga: which steps it has reached, whether they fit the
 * journal, and why it was left. The undo of the recorded steps follows, by the undo
 * actions that the method has registered.
 */
final class SagaExecution {

	private static final Logger logger = LoggerFactory.getLogger(SagaExecution.class);

	private static final int LONGEST_NAME = 100;

	private static final Set<Integer> INVALID = Set.of((int) Character.CONTROL, (int) Character.SURROGATE,
			(int) Character.LINE_SEPARATOR, (int) Character.PARAGRAPH_SEPARATOR);

	/**
	 * After these, the run can still undo other steps.
	 */
	private static final Set<Cause> OF_ONE_STEP = Set.of(Cause.UNKNOWN, Cause.HALT, Cause.EXPIRED);

	private static final ThreadLocal<@Nullable SagaExecution> bound = new ThreadLocal<>();

	private final SagaRun run;

	private final BooleanSupplier stopping;

	private final Thread thread = Thread.currentThread();

	/**
	 * The names of the steps and waits that the method has created, and what to say of
	 * one that is not run.
	 */
	private final Map<String, String> created = new LinkedHashMap<>();

	/**
	 * The steps and waits that the method has reached.
	 */
	private final Set<String> reached = new HashSet<>();

	private final Map<String, StepDefinition<?>> steps = new HashMap<>();

	private volatile @Nullable StepKind acting;

	private volatile boolean ended;

	private volatile @Nullable String misuse;

	private @Nullable RunAbortedError left;

	/**
	 * Creates an execution.
	 * @param stopping whether the process is stopping, so that another one should
	 * continue the saga
	 */
	SagaExecution(SagaRun run, BooleanSupplier stopping) {
		this.run = run;
		this.stopping = stopping;
	}

	/**
	 * Requires that the calling thread runs no saga.
	 * @param saga the saga that is called
	 */
	static void requireNone(String saga) {
		SagaExecution outer = bound.get();
		if (outer != null) {
			outer.requireNoStep("The saga " + saga + " is called");
			throw new IllegalStateException("The saga " + saga
					+ " is called in another saga. Call it outside, or start it with Sagas.start in a step");
		}
	}

	/**
	 * Runs the method without the key of an enclosing run, because calls outside of steps
	 * may differ between runs. What follows are undo actions.
	 */
	@Nullable Object execute() throws Throwable {
		byte[] arguments = this.run.arguments();
		IdempotencyContext outer = IdempotencyContext.bind(null);
		bound.set(this);
		try {
			return this.run.definition().run(arguments);
		}
		finally {
			this.ended = true;
			bound.remove();
			IdempotencyContext.bind(outer);
		}
	}

	private void created(String name, String described, String forgotten) {
		requireNoStep(described + " is used");
		if (this.created.putIfAbsent(name, described + forgotten) != null) {
			throw new IllegalStateException("The saga " + this.run.name() + " has two steps '" + name
					+ "'. Names identify steps and waits: in a loop, add what distinguishes them");
		}
	}

	private <R extends @Nullable Object> SagaWait<R> createWait(String name, Type type) {
		String described = "The wait for the signal '" + name + "'";
		created(name, described, " was created, but has no time: end it with within, orEmptyAfter or arrivesWithin");
		return new WaitDefinition<>(name, type) {

			@Override
			JournalEntry await(Duration limit) {
				return endWait(name, described, StepKind.SIGNAL, type, limit,
						(entry) -> entry.refused("The signal '" + name + "' did not arrive within " + limit));
			}

			@Override
			@Nullable Object read(JournalEntry ended, Type declared) {
				return leaving(() -> reading(() -> SagaExecution.this.run.signalOf(ended, declared)));
			}

		};
	}

	private void sleep(String name, Duration time) {
		String described = "The sleep '" + name + "'";
		created(name, described, "");
		JournalEntry unused = endWait(name, described, StepKind.SLEEP, Void.class, time, this.run::slept);
	}

	/**
	 * Returns the version that is recorded in this place, or 0 if a step is: then the
	 * saga has gone on from here in a version of the method that did not ask.
	 */
	private int version(String change, int current) {
		String described = "The version of '" + change + "'";
		if (current < 1) {
			throw new IllegalArgumentException(described + " is " + current + ", but must be at least 1");
		}
		created(change, described, "");
		requireUsable(change, described);
		return leaving(() -> {
			JournalEntry recorded = this.run.journal().at(this.reached.size() + 1);
			if (recorded != null && !recorded.name().equals(change)) {
				this.created.remove(change);
				return 0;
			}
			JournalEntry entry = (recorded != null) ? requireKind(recorded, StepKind.VERSION)
					: beginVersion(change, current);
			this.reached.add(change);
			return (Integer) Objects.requireNonNull(reading(() -> this.run.resultOf(entry, Integer.class)));
		});
	}

	private JournalEntry beginVersion(String change, int current) {
		requireForward();
		JournalEntry entry = this.run.journal().begin(change, StepKind.VERSION);
		return this.run.journal().keep(this.run.done(entry, Integer.class, current));
	}

	/**
	 * Waits, or returns what is recorded of a wait.
	 * @throws RunAbortedError if the method cannot continue now
	 */
	private JournalEntry endWait(String name, String described, StepKind kind, Type type, Duration limit,
			UnaryOperator<JournalEntry> expired) {
		requireUsable(name, described);
		return leaving(() -> {
			JournalEntry recorded = recorded(name);
			if (recorded == null) {
				requireValid(described, limit);
				requireRecordable(name, type);
			}
			this.reached.add(name);
			JournalEntry entry = (recorded != null) ? requireKind(recorded, kind) : beginWait(name, kind);
			if (!entry.isUnknown()) {
				return entry;
			}
			requireForward();
			return this.run.endWait(entry, limit, expired.apply(entry));
		});
	}

	/**
	 * Does a part of a step or a wait, and records why the method is left, if it is.
	 */
	private <T extends @Nullable Object> T leaving(Supplier<T> part) {
		try {
			return part.get();
		}
		catch (RunAbortedError ex) {
			this.left = ex;
			throw ex;
		}
	}

	private JournalEntry beginWait(String name, StepKind kind) {
		requireForward();
		requireRunning();
		JournalEntry entry = this.run.journal().begin(name, kind);
		this.run.write(entry);
		return entry;
	}

	private void requireValid(String described, Duration limit) {
		if (limit.isNegative() || limit.isZero()) {
			throw new IllegalArgumentException(described + " lasts " + limit + ", but must last longer than zero");
		}
		Duration timeout = this.run.definition().timeout();
		if (limit.compareTo(timeout) > 0) {
			throw new IllegalArgumentException(described + " may last " + limit + ", but the saga " + this.run.name()
					+ " is undone after " + timeout + ": set a longer timeout of its @Saga");
		}
	}

	/**
	 * Leaves the method if it runs only to collect its undo actions.
	 */
	private void requireForward() {
		if (this.run.isCompensating()) {
			throw new RunAbortedError(Cause.COLLECTED);
		}
	}

	private <R extends @Nullable Object> SagaStep<R> create(String name, Type type) {
		created(name, "The step '" + name + "'", " was created, but not run: end it with run or runInTransaction");
		return new StepDefinition<>(name, type) {

			@Override
			@Nullable Object run(StepKind kind) {
				return step(this, kind);
			}

			@Override
			boolean hasValue(String json, String pointer) {
				return SagaExecution.this.run.definition().hasValue(json, pointer);
			}

			@Override
			void requireNoMisuse() {
				SagaExecution.this.requireNoMisuse();
			}

		};
	}

	/**
	 * Runs a step: acts and records the outcome, or returns what is recorded.
	 * @throws RunAbortedError if the method cannot continue
	 * @throws StepRefusedException if the action was refused
	 */
	private @Nullable Object step(StepDefinition<?> call, StepKind kind) {
		requireUsable(call.name(), "The step '" + call.name() + "'");
		this.acting = kind;
		try {
			return leaving(() -> {
				JournalEntry recorded = recorded(call.name());
				this.reached.add(call.name());
				this.steps.put(call.name(), call);
				JournalEntry entry = (recorded != null) ? settled(call, recorded, kind) : begin(call, kind);
				if (entry.isRefused()) {
					throw new StepRefusedException(Objects.requireNonNull(entry.reason()));
				}
				return reading(() -> this.run.resultOf(entry, call.type()));
			});
		}
		finally {
			this.acting = null;
			this.misuse = null;
		}
	}

	/**
	 * Reads the recorded result of a step or a wait. A method that only registers its
	 * undo actions, and has registered all of them, does without.
	 */
	private @Nullable Object reading(Supplier<? extends @Nullable Object> recorded) {
		try {
			return recorded.get();
		}
		catch (RunAbortedError ex) {
			throw (this.run.isCompensating() && canUndo()) ? new RunAbortedError(Cause.COLLECTED) : ex;
		}
	}

	private void requireUsable(String name, String described) {
		requireNoStep(described + " is used");
		if (this.thread != Thread.currentThread()) {
			throw new IllegalStateException(described + " runs on another thread than its saga");
		}
		if (this.left != null) {
			throw this.left;
		}
		if (this.reached.contains(name)) {
			throw new IllegalStateException(described + " was run before");
		}
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException(described + " runs within a transaction of the saga's method. Remove that "
					+ "transaction, or use runInTransaction for the work of a step");
		}
	}

	/**
	 * Returns what is recorded of a step. A step may begin only if nothing is recorded in
	 * its place: then the method has reached all recorded steps in their order.
	 * @return {@code null} if it may begin
	 * @throws RunAbortedError if another step is recorded in its place
	 */
	private @Nullable JournalEntry recorded(String name) {
		JournalEntry recorded = this.run.journal().at(this.reached.size() + 1);
		if (recorded == null || recorded.name().equals(name)) {
			return recorded;
		}
		if (this.run.isCompensating() && canUndo()) {
			throw new RunAbortedError(Cause.COLLECTED);
		}
		throw new RunAbortedError(Cause.INCOMPATIBLE, HaltReason.OTHER_STEP.text(name, recorded.name()), null);
	}

	/**
	 * Returns a recorded entry with its outcome, which is determined first if the saga
	 * still goes forward.
	 */
	private JournalEntry settled(StepDefinition<?> call, JournalEntry entry, StepKind kind) {
		if (!requireKind(entry, kind).isUnknown()) {
			return entry;
		}
		requireForward();
		return new CalledStep(this.run, call).repeat(entry);
	}

	private static JournalEntry requireKind(JournalEntry entry, StepKind kind) {
		if (entry.kind() != kind) {
			throw new RunAbortedError(Cause.INCOMPATIBLE, HaltReason.OTHER_KIND.text(entry.name(), entry.kind(), kind),
					null);
		}
		return entry;
	}

	private JournalEntry begin(StepDefinition<?> call, StepKind kind) {
		requireForward();
		requireRunning();
		requireRecordable(call.name(), call.type());
		JournalEntry entry = this.run.journal().begin(call.name(), kind);
		return kind.isTransactional() ? new TransactionalStep(this.run, call).act(entry)
				: new CalledStep(this.run, call).begin(entry);
	}

	/**
	 * Requires that the result can be recorded. Of an exception of the saga, its class
	 * alone is recorded.
	 */
	private void requireRecordable(String step, Type type) {
		try {
			this.run.definition().requireStepResult(step, type);
		}
		catch (IllegalArgumentException ex) {
			logger.error("The saga {} has a step that cannot be run", this.run.name(), ex);
			throw ex;
		}
	}

	/**
	 * Requires that neither an action nor an undo is running, which would use the saga in
	 * each attempt.
	 */
	private void requireNoStep(String use) {
		if (this.acting != null || this.ended) {
			this.misuse = use + (this.ended ? " in an undo" : " within another step");
			requireNoMisuse();
		}
	}

	/**
	 * Requires that the running action or undo has not used the saga, whatever exceptions
	 * it has caught.
	 * @throws IllegalStateException in a transaction, which is rolled back
	 * @throws RunAbortedError otherwise, because no attempt can settle what it has done
	 */
	private void requireNoMisuse() {
		if (this.misuse == null) {
			return;
		}
		if (this.acting != null && this.acting.isTransactional()) {
			throw new IllegalStateException(HaltReason.NESTED_USE.text(this.misuse));
		}
		throw new RunAbortedError(Cause.HALT, HaltReason.NESTED_USE.text(this.misuse), null);
	}

	/**
	 * Aborts the run of a stored saga if the process is stopping.
	 */
	private void requireRunning() {
		if (this.stopping.getAsBoolean() && this.run.presence() == SagaRun.Presence.STORED) {
			throw new RunAbortedError(Cause.STOPPING);
		}
	}

	/**
	 * Returns whether the method has registered all undo actions that are needed.
	 */
	boolean canUndo() {
		return this.run.journal().toUndo().stream().allMatch((entry) -> this.steps.containsKey(entry.name()));
	}

	/**
	 * Undoes the recorded steps that must still be undone, in reverse order.
	 * Cancellations need no result of another step, so they do not wait behind an undo
	 * whose outcome is unknown, or that cannot be called.
	 * @throws RunAbortedError if a step cannot be undone now, or at all
	 */
	void undo() {
		RunAbortedError first = null;
		for (JournalEntry entry : this.run.journal().toUndo()) {
			requireRunning();
			if (first == null) {
				first = undo(entry);
			}
			else if (entry.kind() == StepKind.CANCELLED_CALL) {
				RunAbortedError unused = undo(entry);
			}
		}
		if (first != null) {
			throw first;
		}
	}

	/**
	 * Undoes a step.
	 * @return why it is not undone, if others can be; otherwise {@code null}
	 * @throws RunAbortedError if this run can undo nothing more
	 */
	private @Nullable RunAbortedError undo(JournalEntry entry) {
		StepDefinition<?> call = this.steps.get(entry.name());
		if (call == null) {
			throw new RunAbortedError(Cause.INCOMPATIBLE, HaltReason.STEP_NOT_REACHED.text(entry.name()), null);
		}
		try {
			if (entry.kind().isTransactional()) {
				new TransactionalStep(this.run, call).undo(entry);
			}
			else {
				new CalledStep(this.run, call).undo(entry);
			}
			return null;
		}
		catch (RunAbortedError ex) {
			if (!OF_ONE_STEP.contains(ex.why()) || this.misuse != null || this.run.isDoubtful()) {
				throw ex;
			}
			return ex;
		}
	}

	boolean hasReachedSteps() {
		return !this.reached.isEmpty();
	}

	/**
	 * Describes a step or a wait that was created and not run, or returns {@code null}.
	 */
	@Nullable String forgotten() {
		return this.created.entrySet()
			.stream()
			.filter((step) -> !this.reached.contains(step.getKey()))
			.map(Map.Entry::getValue)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns the first recorded step that was not reached, or {@code null}.
	 */
	@Nullable String missedStep() {
		JournalEntry next = this.run.journal().at(this.reached.size() + 1);
		return (next != null) ? next.name() : null;
	}

	@Nullable RunAbortedError left() {
		return this.left;
	}

	/**
	 * The steps of the saga that the calling thread runs.
	 */
	static final class BoundSteps implements SagaSteps {

		@Override
		public SagaStep<@Nullable Void> step(String name) {
			return create(name, Void.class);
		}

		@Override
		public <R extends @Nullable Object> SagaStep<R> step(String name, Class<R> type) {
			return create(name, type);
		}

		@Override
		public <R extends @Nullable Object> SagaStep<R> step(String name, ParameterizedTypeReference<R> type) {
			return create(name, type.getType());
		}

		@Override
		public SagaWait<@Nullable Void> await(String name) {
			return createWait(name, Void.class);
		}

		@Override
		public <R extends @Nullable Object> SagaWait<R> await(String name, Class<R> type) {
			return createWait(name, type);
		}

		@Override
		public <R extends @Nullable Object> SagaWait<R> await(String name, ParameterizedTypeReference<R> type) {
			return createWait(name, type.getType());
		}

		@Override
		public void sleep(String name, Duration time) {
			current("The sleep '" + name + "' was used", name).sleep(name, time);
		}

		@Override
		public int version(String change, int current) {
			return current("The version of '" + change + "' was asked for", change).version(change, current);
		}

		private static <R extends @Nullable Object> SagaStep<R> create(String name, Type type) {
			return current("The step '" + name + "' was created", name).create(name, type);
		}

		private static <R extends @Nullable Object> SagaWait<R> createWait(String name, Type type) {
			return current("The wait '" + name + "' was created", name).createWait(name, type);
		}

		private static SagaExecution current(String used, String name) {
			SagaExecution execution = bound.get();
			if (execution == null) {
				throw new IllegalStateException(
						used + " outside a saga, or on another thread than the saga runs on. Do "
								+ "that in a method that is annotated with @Saga and called from another bean");
			}
			requireName(name);
			return execution;
		}

	}

	/**
	 * Requires that each database stores and compares the name of a step or a signal as
	 * it is.
	 * @throws IllegalArgumentException if it does not
	 */
	static void requireName(String name) {
		if (name.isEmpty() || name.length() > LONGEST_NAME || !name.equals(name.strip())
				|| name.codePoints().mapToObj(Character::getType).anyMatch(INVALID::contains)) {
			throw new IllegalArgumentException("The name of a step or a signal must have 1 to " + LONGEST_NAME
					+ " characters, without control characters, incomplete ones, and white space at its ends: '"
					+ SagaStore.text(name) + "'");
		}
	}

}
