package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

import dev.idempotent.concurrent.Backoff;
import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.engine.RunEnd.Kind;
import dev.idempotent.saga.engine.SagaRun.Presence;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.saga.store.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives one run of a saga to its end: executes the method, then completes the saga or
 * calls the undo actions that the method has registered.
 */
final class SagaRunner {

	private static final Logger logger = LoggerFactory.getLogger(SagaRunner.class);

	static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofMinutes(1));

	private final SagaRun.Resources resources;

	private final SagaRun run;

	private final SagaExecution execution;

	private final BooleanSupplier stopping;

	/**
	 * Creates a runner.
	 * @param stopping whether the process is stopping, so that another one should
	 * continue the saga
	 */
	SagaRunner(SagaRun run, BooleanSupplier stopping) {
		this.resources = run.resources();
		this.run = run;
		this.execution = new SagaExecution(run, stopping);
		this.stopping = stopping;
	}

	/**
	 * Runs a saga until it ends or cannot continue.
	 */
	RunEnd run() {
		String problem = this.run.problem();
		if (problem != null) {
			return incompatible(new RunAbortedError(Cause.INCOMPATIBLE, problem, null));
		}
		Object result = null;
		Throwable failure = null;
		try {
			result = this.execution.execute();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		RunAbortedError left = this.execution.left();
		if (left != null && left.why() != Cause.COLLECTED) {
			return leave(left);
		}
		if (failure instanceof SagaDefinition.UnreadableException) {
			return incompatible(
					new RunAbortedError(Cause.INCOMPATIBLE, Objects.toString(failure.getMessage()), failure));
		}
		if (this.run.isCompensating()) {
			return (failure != null && TransientFailures.include(failure) && !this.execution.canUndo())
					? release(describe(failure), failure) : undo();
		}
		return (failure != null) ? failed(failure) : returned(result);
	}

	/**
	 * Ends a run whose thread is still in a call after its time limit.
	 */
	void abandon(RunAbortedError late) {
		RunEnd end = release(late.reason(), null);
		logger.debug("Saga {} was abandoned by a thread: {}", this.run.id(), end.kind());
	}

	private RunEnd returned(@Nullable Object result) {
		String forgotten = this.execution.forgotten();
		if (forgotten != null) {
			return failed(new IllegalStateException(forgotten));
		}
		String missed = this.execution.missedStep();
		if (missed != null) {
			return incompatible(
					new RunAbortedError(Cause.INCOMPATIBLE, HaltReason.RETURNED_BEFORE_STEP.text(missed), null));
		}
		byte[] stored;
		try {
			stored = this.resources.values()
				.seal(this.run.definition().writeResult(result), this.run.id(), SagaRun.Values.RESULT);
		}
		catch (RuntimeException ex) {
			return failed(ex);
		}
		try {
			if (this.run.presence() != Presence.STORED) {
				this.run.write();
			}
			if (change(SagaStatus.COMPLETED, stored, null, this.resources.settings().retention())) {
				ended(SagaStatus.COMPLETED);
				return RunEnd.completed(result);
			}
		}
		catch (RunAbortedError ex) {
			return leave(ex);
		}
		return lost();
	}

	/**
	 * Ends a run whose body has failed. The saga is undone because of the failure only if
	 * the body has reached all recorded steps, and the process is not stopping.
	 */
	private RunEnd failed(Throwable failure) {
		logger.debug("The body of saga {} has failed", this.run.id(), OutageLog.printable(failure));
		if (this.stopping.getAsBoolean()) {
			return releaseAfter(Duration.ZERO, failure);
		}
		if (TransientFailures.include(failure)) {
			return release(describe(failure), failure);
		}
		String missed = this.execution.missedStep();
		if (missed != null) {
			return incompatible(new RunAbortedError(Cause.INCOMPATIBLE,
					HaltReason.FAILED_BEFORE_STEP.text(describe(failure), missed), failure));
		}
		if (failure instanceof LinkageError) {
			return incompatible(
					new RunAbortedError(Cause.INCOMPATIBLE, HaltReason.CLASS_MISSING.text(describe(failure)), failure));
		}
		if (this.run.presence() == Presence.ABSENT && !this.execution.hasReachedSteps()) {
			return RunEnd.failed(failure);
		}
		if (!(failure instanceof StepRefusedException)) {
			logger.warn("The method of saga {} ({}) has failed, so the saga is undone", this.run.id(), this.run.name(),
					OutageLog.printable(failure));
		}
		return (this.run.presence() == Presence.ABSENT) ? RunEnd.refused(describe(failure))
				: compensate(describe(failure));
	}

	private String describe(Throwable failure) {
		return this.resources.failures().describe(failure);
	}

	private RunEnd leave(RunAbortedError left) {
		return switch (left.why()) {
			case EXISTS -> RunEnd.of(Kind.EXISTS);
			case CONTENDED -> RunEnd.of(Kind.CONTENDED);
			case LOST -> lost();
			case ABANDONED -> RunEnd.of(Kind.LOST);
			case HALT -> halt(left.reason());
			case EXPIRED -> this.run.isCompensating() ? halt(left.reason()) : compensate(left.reason());
			case UNKNOWN -> release(left.reason(), left.getCause());
			case INCOMPATIBLE -> incompatible(left);
			case WAITING -> RunEnd.waiting(left.reason(), left.due());
			case STOPPING -> releaseAfter(Duration.ZERO, null);
			case COLLECTED -> undo();
		};
	}

	private RunEnd compensate(String reason) {
		try {
			if (!change(SagaStatus.COMPENSATING, null, reason, this.run.lease())) {
				return lost();
			}
		}
		catch (RunAbortedError ex) {
			return releaseForRetry(ex.getCause());
		}
		this.run.compensate(reason);
		return this.run.isDoubtful() ? releaseAfter(Duration.ZERO, null) : undo();
	}

	private RunEnd undo() {
		String reason = this.run.reason();
		try {
			this.execution.undo();
			if (!change(SagaStatus.COMPENSATED, null, reason, this.resources.settings().retention())) {
				return lost();
			}
		}
		catch (RunAbortedError ex) {
			return leave(ex);
		}
		ended(SagaStatus.COMPENSATED);
		return RunEnd.compensated(reason);
	}

	/**
	 * Finds out why a write had no effect: the deadline has passed, another owner has the
	 * saga, or the reply to an earlier write was lost.
	 */
	private RunEnd lost() {
		StoredSaga stored = find();
		if (stored == null || !stored.owner().equals(this.run.owner())) {
			this.resources.observers().each((observer) -> observer.fenced(this.run.name()));
			logger.debug("Saga {} has another owner", this.run.id());
			return RunEnd.of(Kind.LOST);
		}
		if (!stored.status().isOpen()) {
			return RunEnd.of(Kind.EXISTS);
		}
		if (this.run.isCompensating()) {
			return releaseForRetry(null);
		}
		if (stored.status() == SagaStatus.EXECUTING) {
			return stored.isLate() ? compensate(Objects.requireNonNullElse(stored.reason(), SagaRun.DEADLINE))
					: releaseForRetry(null);
		}
		this.run.compensate(Objects.requireNonNullElse(stored.reason(), SagaRun.DEADLINE));
		return releaseAfter(Duration.ZERO, null);
	}

	/**
	 * Releases a saga whose journal does not match the body, for an instance with another
	 * version of the application. As many incompatible runs as attempts are allowed halt
	 * it, whatever progress compatible runs have made meanwhile.
	 */
	private RunEnd incompatible(RunAbortedError left) {
		if (this.run.presence() == Presence.ABSENT) {
			return RunEnd.failed(Objects.requireNonNullElse(left.getCause(), left));
		}
		if (this.run.incompatibleRuns() + 1 >= this.resources.settings().attempts()) {
			return halt(left.reason());
		}
		logger.warn("Saga {} ({}) cannot continue here and is released for another instance: {}", this.run.id(),
				this.run.name(), left.reason());
		return releaseIncompatible(left.getCause());
	}

	private RunEnd release(String reason, @Nullable Throwable failure) {
		if (this.run.attempts() < this.resources.settings().attempts()) {
			if (this.run.attempts() == 0) {
				logger.warn("Saga {} ({}) cannot go on for now and is repeated: {}", this.run.id(), this.run.name(),
						reason);
			}
			return releaseForRetry(failure);
		}
		if (this.run.isCompensating()) {
			return halt(reason);
		}
		logger.warn("Saga {} ({}) is undone after {} attempts: {}", this.run.id(), this.run.name(), this.run.attempts(),
				reason);
		return compensate(reason);
	}

	/**
	 * Finds the saga; {@code null} if it cannot be read, too.
	 */
	private @Nullable StoredSaga find() {
		try {
			return this.resources.store().find(this.run.id());
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be read", this.run.id(), ex);
			return null;
		}
	}

	/**
	 * Halts the saga for an operator, unless its deadline has passed while it was run:
	 * then it is undone.
	 */
	private RunEnd halt(String reason) {
		try {
			if (this.run.presence() == Presence.ABSENT) {
				return RunEnd.of(Kind.LOST);
			}
			if (!change(SagaStatus.HALTED, null, reason, Duration.ZERO)) {
				return lost();
			}
		}
		catch (RunAbortedError ex) {
			return releaseForRetry(ex.getCause());
		}
		logger.error("Saga {} ({}) is halted and needs an operator: {}", this.run.id(), this.run.name(), reason);
		ended(SagaStatus.HALTED);
		return RunEnd.of(Kind.HALTED);
	}

	/**
	 * Releases the saga for another attempt.
	 */
	private RunEnd releaseForRetry(@Nullable Throwable failure) {
		return releaseAfter(BACKOFF.after(this.run.attempts() + 1L), failure);
	}

	/**
	 * Releases the saga for any instance.
	 */
	private RunEnd releaseAfter(Duration delay, @Nullable Throwable failure) {
		if (this.run.presence() == Presence.ABSENT) {
			return RunEnd.failed((failure != null) ? failure : new IllegalStateException("The saga has not begun"));
		}
		return released(() -> this.resources.store().release(this.run.owner(), this.run.journal().unwritten(), delay),
				failure);
	}

	/**
	 * Releases the saga for an instance with a compatible version of the application.
	 */
	private RunEnd releaseIncompatible(@Nullable Throwable failure) {
		Duration delay = BACKOFF.after(this.run.incompatibleRuns() + 1L);
		return released(() -> this.resources.store().releaseIncompatible(this.run.owner(), delay), failure);
	}

	private RunEnd released(BooleanSupplier release, @Nullable Throwable failure) {
		try {
			boolean unused = release.getAsBoolean();
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be released; it is taken over when its lease has ended", this.run.id(), ex);
		}
		return RunEnd.released(failure);
	}

	/**
	 * Changes the status, and writes the outcomes that are not written yet.
	 * @return {@code false} if it had no effect
	 * @throws RunAbortedError if that is unknown
	 */
	private boolean change(SagaStatus to, byte @Nullable [] result, @Nullable String reason, Duration due) {
		List<JournalEntry> entries = this.run.journal().unwritten();
		try {
			return this.resources.store()
				.change(this.run.owner(), new StatusChange(this.run.status(), to, result, reason, due), entries);
		}
		catch (RuntimeException ex) {
			throw new RunAbortedError(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
	}

	private void ended(SagaStatus status) {
		this.resources.observers().each((observer) -> observer.ended(this.run.name(), status, this.run.age()));
	}

}
