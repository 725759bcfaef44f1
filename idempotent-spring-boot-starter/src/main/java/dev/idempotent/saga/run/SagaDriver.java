package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.Objects;
import java.util.function.BooleanSupplier;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.run.LeaveBody.Cause;
import dev.idempotent.saga.run.RunEnd.Kind;
import dev.idempotent.saga.run.SagaRun.Presence;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives one run of a saga to its end: forward through its body, and backward through the
 * undo actions that the body has registered.
 */
final class SagaDriver {

	private static final Logger logger = LoggerFactory.getLogger(SagaDriver.class);

	private final RunResources resources;

	private final SagaTransitions transitions;

	private final BooleanSupplier stopping;

	SagaDriver(RunResources resources, BooleanSupplier stopping) {
		this.resources = resources;
		this.transitions = new SagaTransitions(resources);
		this.stopping = stopping;
	}

	/**
	 * Runs a saga until it ends or cannot continue.
	 */
	RunEnd drive(SagaRun run) {
		String flaw = run.flaw();
		if (flaw != null) {
			return unfit(run, LeaveBody.because(Cause.UNFIT, flaw, null));
		}
		SagaBody body = new SagaBody(run, this.stopping);
		Object result = null;
		Throwable failure = null;
		try {
			result = execute(run, body);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		LeaveBody left = body.left();
		if (left != null && left.why() != Cause.COLLECTED) {
			return leave(run, body, left);
		}
		if (failure instanceof SagaDefinition.UnreadableException) {
			return leave(run, body, LeaveBody.because(Cause.UNFIT, Objects.toString(failure.getMessage()), failure));
		}
		if (run.isCompensating()) {
			return (failure != null && TransientFailures.include(failure) && !new Compensation(run, body).isPrepared())
					? release(run, body, FailureClassifier.reasonOf(failure), failure) : undo(run, body);
		}
		return (failure != null) ? failed(run, body, failure) : returned(run, body, result);
	}

	/**
	 * Runs the body without the key of an enclosing run, because calls outside of steps
	 * may differ between runs.
	 */
	private static @Nullable Object execute(SagaRun run, SagaBody body) throws Throwable {
		byte[] arguments = run.resources().form().open(run.arguments(), run.id(), StoredForm.ARGUMENTS);
		IdempotencyContext outer = IdempotencyContext.bind(null);
		BoundSteps.bind(body);
		try {
			return run.definition().run(arguments);
		}
		finally {
			body.end();
			BoundSteps.bind(null);
			IdempotencyContext.bind(outer);
		}
	}

	private RunEnd returned(SagaRun run, SagaBody body, @Nullable Object result) {
		String forgotten = body.forgottenStep();
		if (forgotten != null) {
			return failed(run, body, new IllegalStateException(
					"The step '" + forgotten + "' was created, but not run: end it with run or runInTransaction"));
		}
		String missed = body.missedStep();
		if (missed != null) {
			return leave(run, body, LeaveBody.because(Cause.UNFIT,
					"The saga's method returned without the recorded step '" + missed + "'", null));
		}
		byte[] stored;
		try {
			stored = this.resources.form().close(run.definition().writeResult(result), run.id(), StoredForm.RESULT);
		}
		catch (RuntimeException ex) {
			return failed(run, body, ex);
		}
		try {
			if (run.presence() != Presence.STORED) {
				run.write();
			}
			if (this.transitions.change(run, SagaStatus.COMPLETED, stored, null,
					this.resources.settings().retention())) {
				this.resources.observers().ended(run.name(), SagaStatus.COMPLETED, run.age());
				return RunEnd.completed(result);
			}
		}
		catch (LeaveBody ex) {
			return leave(run, body, ex);
		}
		return lost(run, body);
	}

	/**
	 * Ends a run whose body has failed. The saga is undone because of the failure only if
	 * the body has reached all recorded steps, and the process is not stopping.
	 */
	private RunEnd failed(SagaRun run, SagaBody body, Throwable failure) {
		logger.debug("The body of saga {} has failed", run.id(), failure);
		if (this.stopping.getAsBoolean()) {
			return this.transitions.releaseAfter(run, Duration.ZERO, failure);
		}
		if (TransientFailures.include(failure)) {
			return release(run, body, FailureClassifier.reasonOf(failure), failure);
		}
		String missed = body.missedStep();
		if (missed != null || failure instanceof LinkageError) {
			return unfit(run,
					LeaveBody
						.because(Cause.UNFIT,
								"The saga's method failed with " + FailureClassifier.reasonOf(failure)
										+ ((missed != null) ? " before its recorded step '" + missed + "'" : ""),
								failure));
		}
		if (run.presence() == Presence.ABSENT && !body.hasReachedSteps()) {
			return RunEnd.failed(failure);
		}
		if (!(failure instanceof StepRefusedException)) {
			logger.warn("The method of saga {} ({}) has failed, so the saga is undone", run.id(), run.name(), failure);
		}
		return (run.presence() == Presence.ABSENT) ? RunEnd.refused(FailureClassifier.reasonOf(failure))
				: compensate(run, body, FailureClassifier.reasonOf(failure));
	}

	private RunEnd leave(SagaRun run, SagaBody body, LeaveBody left) {
		return switch (left.why()) {
			case EXISTS -> RunEnd.of(Kind.EXISTS);
			case CONTENDED -> RunEnd.of(Kind.CONTENDED);
			case LOST -> lost(run, body);
			case HALT -> this.transitions.halt(run, left.reason());
			case EXPIRED ->
				run.isCompensating() ? this.transitions.halt(run, left.reason()) : compensate(run, body, left.reason());
			case UNKNOWN -> release(run, body, left.reason(), left.getCause());
			case UNFIT -> unfit(run, left);
			case STOPPING -> this.transitions.releaseAfter(run, Duration.ZERO, null);
			case COLLECTED -> undo(run, body);
		};
	}

	private RunEnd compensate(SagaRun run, SagaBody body, String reason) {
		try {
			if (!this.transitions.change(run, SagaStatus.COMPENSATING, null, reason, run.lease())) {
				return lost(run, body);
			}
		}
		catch (LeaveBody ex) {
			return this.transitions.releaseAfter(run, Backoff.after(run.attempts()), ex.getCause());
		}
		run.compensate(reason);
		return run.isDoubtful() ? this.transitions.releaseAfter(run, Duration.ZERO, null) : undo(run, body);
	}

	private RunEnd undo(SagaRun run, SagaBody body) {
		String reason = run.reason();
		try {
			new Compensation(run, body).undo();
			if (!this.transitions.change(run, SagaStatus.COMPENSATED, null, reason,
					this.resources.settings().retention())) {
				return lost(run, body);
			}
		}
		catch (LeaveBody ex) {
			return leave(run, body, ex);
		}
		this.resources.observers().ended(run.name(), SagaStatus.COMPENSATED, run.age());
		return RunEnd.compensated(reason);
	}

	/**
	 * Finds out why a write had no effect: the deadline has passed, another owner has the
	 * saga, or the reply to an earlier write was lost.
	 */
	private RunEnd lost(SagaRun run, SagaBody body) {
		StoredSaga stored = this.transitions.find(run);
		if (stored == null || !stored.owner().equals(run.owner())) {
			this.resources.observers().fenced(run.name());
			logger.debug("Saga {} has another owner", run.id());
			return RunEnd.of(Kind.LOST);
		}
		if (!stored.status().isOpen()) {
			return RunEnd.of(Kind.EXISTS);
		}
		if (run.isCompensating()) {
			return this.transitions.releaseAfter(run, Backoff.after(run.attempts()), null);
		}
		if (stored.status() == SagaStatus.EXECUTING) {
			return stored.isLate() ? compensate(run, body, SagaRun.DEADLINE)
					: this.transitions.releaseAfter(run, Backoff.after(run.attempts()), null);
		}
		run.compensate(Objects.requireNonNullElse(stored.reason(), SagaRun.DEADLINE));
		return this.transitions.releaseAfter(run, Duration.ZERO, null);
	}

	/**
	 * Releases a saga whose journal does not match the body, for an instance with another
	 * version of the application. As many unfit runs as attempts are allowed halt it,
	 * whatever progress runs that fit have made meanwhile.
	 */
	private RunEnd unfit(SagaRun run, LeaveBody left) {
		if (run.presence() == Presence.ABSENT) {
			return RunEnd.failed(Objects.requireNonNullElse(left.getCause(), left));
		}
		if (run.unfit() + 1 >= this.resources.settings().attempts()) {
			return this.transitions.halt(run, left.reason());
		}
		logger.warn("Saga {} ({}) cannot continue here and is released for another instance: {}", run.id(), run.name(),
				left.reason());
		return this.transitions.releaseUnfit(run, left.getCause());
	}

	private RunEnd release(SagaRun run, SagaBody body, String reason, @Nullable Throwable failure) {
		if (run.attempts() < this.resources.settings().attempts()) {
			if (run.attempts() == 0) {
				logger.warn("Saga {} ({}) cannot go on for now and is repeated: {}", run.id(), run.name(), reason);
			}
			return this.transitions.releaseAfter(run, Backoff.after(run.attempts()), failure);
		}
		if (run.isCompensating()) {
			return this.transitions.halt(run, reason);
		}
		logger.warn("Saga {} ({}) is undone after {} attempts: {}", run.id(), run.name(), run.attempts(), reason);
		return compensate(run, body, reason);
	}

}
