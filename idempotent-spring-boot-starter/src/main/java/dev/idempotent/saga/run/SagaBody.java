package dev.idempotent.saga.run;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;

import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.run.LeaveBody.Cause;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * One execution of the body of a saga: which steps it has reached, and why it was left.
 */
final class SagaBody {

	private final SagaRun run;

	private final BooleanSupplier stopping;

	private final Thread thread = Thread.currentThread();

	private final Set<String> created = new LinkedHashSet<>();

	private final Map<String, StepCall<?>> reached = new HashMap<>();

	private volatile @Nullable StepKind acting;

	private volatile boolean ended;

	private volatile @Nullable String misuse;

	private @Nullable LeaveBody left;

	/**
	 * Creates an execution.
	 * @param stopping whether the process is stopping, so that another one should
	 * continue the saga
	 */
	SagaBody(SagaRun run, BooleanSupplier stopping) {
		this.run = run;
		this.stopping = stopping;
	}

	/**
	 * Adds a step that has not been run yet.
	 */
	void add(StepCall<?> call) {
		requireNoStep("The step '" + call.name() + "' is used");
		if (!this.created.add(call.name())) {
			throw new IllegalStateException("The saga " + this.run.name() + " has two steps '" + call.name()
					+ "'. Names identify steps: in a loop, add what distinguishes them");
		}
	}

	/**
	 * Runs a step: acts and records the outcome, or returns what is recorded.
	 * @throws LeaveBody if the body cannot continue
	 * @throws StepRefusedException if the action was refused
	 */
	@Nullable Object step(StepCall<?> call, StepKind kind) {
		requireNoStep("The step '" + call.name() + "' is used");
		if (this.thread != Thread.currentThread()) {
			throw new IllegalStateException("The step '" + call.name() + "' runs on another thread than its saga");
		}
		if (this.left != null) {
			throw this.left;
		}
		requireUsable(call);
		this.acting = kind;
		try {
			JournalEntry recorded = recorded(call);
			this.reached.put(call.name(), call);
			JournalEntry entry = (recorded != null) ? settled(call, recorded, kind) : begin(call, kind);
			if (entry.isRefused()) {
				throw new StepRefusedException(Objects.requireNonNull(entry.reason()));
			}
			return read(call, entry);
		}
		catch (LeaveBody ex) {
			this.left = ex;
			throw ex;
		}
		finally {
			this.acting = null;
			this.misuse = null;
		}
	}

	/**
	 * Records that the method has ended. What follows are undo actions.
	 */
	void end() {
		this.ended = true;
	}

	/**
	 * Requires that neither an action nor an undo is running, which would use the saga in
	 * each attempt.
	 */
	void requireNoStep(String use) {
		if (this.acting != null || this.ended) {
			this.misuse = use + (this.ended ? " in an undo" : " within another step");
			requireNoMisuse();
		}
	}

	/**
	 * Requires that the running action or undo has not used the saga, whatever exceptions
	 * it has caught.
	 * @throws IllegalStateException in a transaction, which is rolled back
	 * @throws LeaveBody otherwise, because no attempt can settle what it has done
	 */
	void requireNoMisuse() {
		if (this.misuse == null) {
			return;
		}
		String reason = this.misuse + ": use steps and sagas one after another";
		if (this.acting != null && this.acting.isTransactional()) {
			throw new IllegalStateException(reason);
		}
		throw LeaveBody.because(Cause.HALT, reason, null);
	}

	/**
	 * Leaves the body of a stored saga if the process is stopping.
	 */
	void requireRunning() {
		if (this.stopping.getAsBoolean() && this.run.presence() == SagaRun.Presence.STORED) {
			throw LeaveBody.because(Cause.STOPPING);
		}
	}

	/**
	 * Reads the recorded result of a step.
	 * @throws LeaveBody if it cannot be read
	 */
	@Nullable Object read(StepCall<?> call, JournalEntry entry) {
		RunResources resources = this.run.resources();
		try {
			byte[] opened = resources.form()
				.open(Objects.requireNonNull(entry.result()), this.run.id(), StoredForm.resultOf(entry.name()));
			return this.run.definition().readStepResult(call.type(), opened);
		}
		catch (SagaDefinition.UnreadableException ex) {
			throw LeaveBody.because(Cause.UNFIT,
					"The result of the step '" + entry.name() + "' cannot be read by this version of the application",
					ex);
		}
	}

	/**
	 * Returns a step that was run, or {@code null}.
	 */
	@Nullable StepCall<?> reached(String step) {
		return this.reached.get(step);
	}

	boolean hasReachedSteps() {
		return !this.reached.isEmpty();
	}

	/**
	 * Returns a step that was created and not run, or {@code null}.
	 */
	@Nullable String forgottenStep() {
		return this.created.stream().filter((name) -> !this.reached.containsKey(name)).findFirst().orElse(null);
	}

	/**
	 * Returns the first recorded step that was not reached, or {@code null}.
	 */
	@Nullable String missedStep() {
		JournalEntry next = this.run.journal().at(this.reached.size() + 1);
		return (next != null) ? next.name() : null;
	}

	@Nullable LeaveBody left() {
		return this.left;
	}

	/**
	 * Returns what is recorded of a step. A step may begin only if nothing is recorded in
	 * its place: then the body has reached all recorded steps in their order.
	 * @return {@code null} if it may begin
	 * @throws LeaveBody if another step is recorded in its place
	 */
	private @Nullable JournalEntry recorded(StepCall<?> call) {
		JournalEntry recorded = this.run.journal().at(this.reached.size() + 1);
		if (recorded == null || recorded.name().equals(call.name())) {
			return recorded;
		}
		if (this.run.isCompensating() && new Compensation(this.run, this).isPrepared()) {
			throw LeaveBody.because(Cause.COLLECTED);
		}
		throw LeaveBody.because(Cause.UNFIT, "The saga's method runs the step '" + call.name()
				+ "' in place of the recorded step '" + recorded.name() + "'", null);
	}

	/**
	 * Returns a recorded entry with its outcome, which is determined first if the saga
	 * still goes forward.
	 */
	private JournalEntry settled(StepCall<?> call, JournalEntry entry, StepKind kind) {
		if (entry.kind() != kind) {
			throw LeaveBody.because(Cause.UNFIT, "The step '" + entry.name() + "' was recorded as " + entry.kind()
					+ ", but is " + kind + " in this version of the application", null);
		}
		if (!entry.isUnknown()) {
			return entry;
		}
		if (this.run.isCompensating()) {
			throw LeaveBody.because(Cause.COLLECTED);
		}
		return new StepAction(this.run).repeat(call, entry);
	}

	private JournalEntry begin(StepCall<?> call, StepKind kind) {
		if (this.run.isCompensating()) {
			throw LeaveBody.because(Cause.COLLECTED);
		}
		requireRunning();
		JournalEntry entry = this.run.journal().begin(call.name(), kind);
		return kind.isTransactional() ? new TransactionalStep(this.run).act(call, entry)
				: new StepAction(this.run).begin(call, entry);
	}

	private void requireUsable(StepCall<?> call) {
		if (this.reached.containsKey(call.name())) {
			throw new IllegalStateException("The step '" + call.name() + "' was run before");
		}
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException("The step '" + call.name() + "' runs within a transaction of the saga's "
					+ "method. Remove that transaction, or use runInTransaction");
		}
	}

}
