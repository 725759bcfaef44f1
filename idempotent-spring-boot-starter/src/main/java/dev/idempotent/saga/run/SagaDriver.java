package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.run.RunAbortedError.Cause;
import dev.idempotent.saga.run.RunEnd.Kind;
import dev.idempotent.saga.run.SagaRun.Presence;
import dev.idempotent.saga.run.SagaStore.JournalEntry;
import dev.idempotent.saga.run.SagaStore.StatusChange;
import dev.idempotent.saga.run.SagaStore.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives one run of a saga to its end: forward through its body, and backward through the
 * undo actions that the body has registered.
 */
final class SagaDriver {

	private static final Logger logger = LoggerFactory.getLogger(SagaDriver.class);

	private static final long FIRST_PAUSE_MILLIS = 100;

	private static final long LONGEST_PAUSE_MILLIS = 60_000;

	private static final int MOST_DOUBLINGS = 10;

	private final SagaRun.Resources resources;

	private final BooleanSupplier stopping;

	SagaDriver(SagaRun.Resources resources, BooleanSupplier stopping) {
		this.resources = resources;
		this.stopping = stopping;
	}

	/**
	 * The time until another attempt: 100 ms, doubled with each attempt up to 1 minute,
	 * and shortened at random by up to a half.
	 */
	static Duration backoff(int attempts) {
		long millis = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(attempts, MOST_DOUBLINGS));
		return Duration.ofMillis(millis - ThreadLocalRandom.current().nextLong(millis / 2 + 1));
	}

	/**
	 * Runs a saga until it ends or cannot continue.
	 */
	RunEnd drive(SagaRun run) {
		String flaw = run.flaw();
		if (flaw != null) {
			return unfit(run, new RunAbortedError(Cause.UNFIT, flaw, null));
		}
		SagaBody body = new SagaBody(run, this.stopping);
		Object result = null;
		Throwable failure = null;
		try {
			result = body.execute();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		RunAbortedError left = body.left();
		if (left != null && left.why() != Cause.COLLECTED) {
			return leave(run, body, left);
		}
		if (failure instanceof SagaDefinition.UnreadableException) {
			return leave(run, body, new RunAbortedError(Cause.UNFIT, Objects.toString(failure.getMessage()), failure));
		}
		if (run.isCompensating()) {
			return (failure != null && TransientFailures.include(failure) && !body.canUndo())
					? release(run, body, FailureClassifier.reasonOf(failure), failure) : undo(run, body);
		}
		return (failure != null) ? failed(run, body, failure) : returned(run, body, result);
	}

	private RunEnd returned(SagaRun run, SagaBody body, @Nullable Object result) {
		String forgotten = body.forgottenStep();
		if (forgotten != null) {
			return failed(run, body, new IllegalStateException(
					"The step '" + forgotten + "' was created, but not run: end it with run or runInTransaction"));
		}
		String missed = body.missedStep();
		if (missed != null) {
			return leave(run, body, new RunAbortedError(Cause.UNFIT,
					"The saga's method returned without the recorded step '" + missed + "'", null));
		}
		byte[] stored;
		try {
			stored = this.resources.seal(run.definition().writeResult(result), run.id(), SagaRun.Resources.RESULT);
		}
		catch (RuntimeException ex) {
			return failed(run, body, ex);
		}
		try {
			if (run.presence() != Presence.STORED) {
				run.write();
			}
			if (change(run, SagaStatus.COMPLETED, stored, null, this.resources.settings().retention())) {
				ended(run, SagaStatus.COMPLETED);
				return RunEnd.completed(result);
			}
		}
		catch (RunAbortedError ex) {
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
			return releaseAfter(run, Duration.ZERO, failure);
		}
		if (TransientFailures.include(failure)) {
			return release(run, body, FailureClassifier.reasonOf(failure), failure);
		}
		String missed = body.missedStep();
		if (missed != null || failure instanceof LinkageError) {
			return unfit(run,
					new RunAbortedError(Cause.UNFIT,
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

	private RunEnd leave(SagaRun run, SagaBody body, RunAbortedError left) {
		return switch (left.why()) {
			case EXISTS -> RunEnd.of(Kind.EXISTS);
			case CONTENDED -> RunEnd.of(Kind.CONTENDED);
			case LOST -> lost(run, body);
			case HALT -> halt(run, left.reason());
			case EXPIRED -> run.isCompensating() ? halt(run, left.reason()) : compensate(run, body, left.reason());
			case UNKNOWN -> release(run, body, left.reason(), left.getCause());
			case UNFIT -> unfit(run, left);
			case STOPPING -> releaseAfter(run, Duration.ZERO, null);
			case COLLECTED -> undo(run, body);
		};
	}

	private RunEnd compensate(SagaRun run, SagaBody body, String reason) {
		try {
			if (!change(run, SagaStatus.COMPENSATING, null, reason, run.lease())) {
				return lost(run, body);
			}
		}
		catch (RunAbortedError ex) {
			return releaseAfter(run, backoff(run.attempts()), ex.getCause());
		}
		run.compensate(reason);
		return run.isDoubtful() ? releaseAfter(run, Duration.ZERO, null) : undo(run, body);
	}

	private RunEnd undo(SagaRun run, SagaBody body) {
		String reason = run.reason();
		try {
			body.undo();
			if (!change(run, SagaStatus.COMPENSATED, null, reason, this.resources.settings().retention())) {
				return lost(run, body);
			}
		}
		catch (RunAbortedError ex) {
			return leave(run, body, ex);
		}
		ended(run, SagaStatus.COMPENSATED);
		return RunEnd.compensated(reason);
	}

	/**
	 * Finds out why a write had no effect: the deadline has passed, another owner has the
	 * saga, or the reply to an earlier write was lost.
	 */
	private RunEnd lost(SagaRun run, SagaBody body) {
		StoredSaga stored = find(run);
		if (stored == null || !stored.owner().equals(run.owner())) {
			this.resources.tell((observer) -> observer.fenced(run.name()));
			logger.debug("Saga {} has another owner", run.id());
			return RunEnd.of(Kind.LOST);
		}
		if (!stored.status().isOpen()) {
			return RunEnd.of(Kind.EXISTS);
		}
		if (run.isCompensating()) {
			return releaseAfter(run, backoff(run.attempts()), null);
		}
		if (stored.status() == SagaStatus.EXECUTING) {
			return stored.isLate() ? compensate(run, body, SagaRun.DEADLINE)
					: releaseAfter(run, backoff(run.attempts()), null);
		}
		run.compensate(Objects.requireNonNullElse(stored.reason(), SagaRun.DEADLINE));
		return releaseAfter(run, Duration.ZERO, null);
	}

	/**
	 * Releases a saga whose journal does not match the body, for an instance with another
	 * version of the application. As many unfit runs as attempts are allowed halt it,
	 * whatever progress runs that fit have made meanwhile.
	 */
	private RunEnd unfit(SagaRun run, RunAbortedError left) {
		if (run.presence() == Presence.ABSENT) {
			return RunEnd.failed(Objects.requireNonNullElse(left.getCause(), left));
		}
		if (run.unfit() + 1 >= this.resources.settings().attempts()) {
			return halt(run, left.reason());
		}
		logger.warn("Saga {} ({}) cannot continue here and is released for another instance: {}", run.id(), run.name(),
				left.reason());
		return releaseUnfit(run, left.getCause());
	}

	private RunEnd release(SagaRun run, SagaBody body, String reason, @Nullable Throwable failure) {
		if (run.attempts() < this.resources.settings().attempts()) {
			if (run.attempts() == 0) {
				logger.warn("Saga {} ({}) cannot go on for now and is repeated: {}", run.id(), run.name(), reason);
			}
			return releaseAfter(run, backoff(run.attempts()), failure);
		}
		if (run.isCompensating()) {
			return halt(run, reason);
		}
		logger.warn("Saga {} ({}) is undone after {} attempts: {}", run.id(), run.name(), run.attempts(), reason);
		return compensate(run, body, reason);
	}

	/**
	 * Finds the saga; {@code null} if it cannot be read, too.
	 */
	private @Nullable StoredSaga find(SagaRun run) {
		try {
			return this.resources.store().find(run.id());
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be read", run.id(), ex);
			return null;
		}
	}

	/**
	 * Halts the saga for an operator.
	 */
	private RunEnd halt(SagaRun run, String reason) {
		try {
			if (run.presence() == Presence.ABSENT || !change(run, SagaStatus.HALTED, null, reason, Duration.ZERO)) {
				return RunEnd.of(Kind.LOST);
			}
		}
		catch (RunAbortedError ex) {
			return releaseAfter(run, backoff(run.attempts()), ex.getCause());
		}
		logger.error("Saga {} ({}) is halted and needs an operator: {}", run.id(), run.name(), reason);
		ended(run, SagaStatus.HALTED);
		return RunEnd.of(Kind.HALTED);
	}

	/**
	 * Releases the saga for any instance.
	 */
	private RunEnd releaseAfter(SagaRun run, Duration delay, @Nullable Throwable failure) {
		if (run.presence() == Presence.ABSENT) {
			return RunEnd.failed((failure != null) ? failure : new IllegalStateException("The saga has not begun"));
		}
		try {
			boolean unused = this.resources.store().release(run.owner(), run.unwritten(), delay);
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be released; it is taken over when its lease has ended", run.id(), ex);
		}
		return RunEnd.released(failure);
	}

	/**
	 * Releases the saga for an instance whose version of the application fits.
	 */
	private RunEnd releaseUnfit(SagaRun run, @Nullable Throwable failure) {
		Duration delay = backoff(run.unfit());
		try {
			boolean unused = this.resources.store().releaseUnfit(run.owner(), delay);
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be released; it is taken over when its lease has ended", run.id(), ex);
		}
		return RunEnd.released(failure);
	}

	/**
	 * Changes the status, and writes the outcomes that are not written yet.
	 * @return {@code false} if it had no effect
	 * @throws RunAbortedError if that is unknown
	 */
	private boolean change(SagaRun run, SagaStatus to, byte @Nullable [] result, @Nullable String reason,
			Duration due) {
		List<JournalEntry> entries = run.unwritten();
		try {
			return this.resources.store()
				.change(run.owner(), new StatusChange(run.status(), to, result, reason, due), entries);
		}
		catch (RuntimeException ex) {
			throw new RunAbortedError(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
	}

	private void ended(SagaRun run, SagaStatus status) {
		this.resources.tell((observer) -> observer.ended(run.name(), status, run.age()));
	}

}
