package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.List;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.run.LeaveBody.Cause;
import dev.idempotent.saga.run.RunEnd.Kind;
import dev.idempotent.saga.run.SagaRun.Presence;
import dev.idempotent.saga.run.SagaStore.StatusChange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes the status of the saga of a run, or gives the saga up.
 */
final class SagaTransitions {

	private static final Logger logger = LoggerFactory.getLogger(SagaTransitions.class);

	private final RunResources resources;

	SagaTransitions(RunResources resources) {
		this.resources = resources;
	}

	/**
	 * Finds the saga; {@code null} if it cannot be read, too.
	 */
	@Nullable StoredSaga find(SagaRun run) {
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
	RunEnd halt(SagaRun run, String reason) {
		try {
			if (run.presence() == Presence.ABSENT || !change(run, SagaStatus.HALTED, null, reason, Duration.ZERO)) {
				return RunEnd.of(Kind.LOST);
			}
		}
		catch (LeaveBody ex) {
			return releaseAfter(run, Backoff.after(run.attempts()), ex.getCause());
		}
		logger.error("Saga {} ({}) is halted and needs an operator: {}", run.id(), run.name(), reason);
		this.resources.observers().ended(run.name(), SagaStatus.HALTED, run.age());
		return RunEnd.of(Kind.HALTED);
	}

	/**
	 * Releases the saga for any instance.
	 */
	RunEnd releaseAfter(SagaRun run, Duration delay, @Nullable Throwable failure) {
		if (run.presence() == Presence.ABSENT) {
			return RunEnd.failed((failure != null) ? failure : new IllegalStateException("The saga has not begun"));
		}
		try {
			boolean unused = this.resources.store().release(run.owner(), run.journal().unwritten(), delay);
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be released; it is taken over when its lease has ended", run.id(), ex);
		}
		return RunEnd.released(delay, failure);
	}

	/**
	 * Releases the saga for an instance whose version of the application fits.
	 */
	RunEnd releaseUnfit(SagaRun run, @Nullable Throwable failure) {
		Duration delay = Backoff.after(run.unfit());
		try {
			boolean unused = this.resources.store().releaseUnfit(run.owner(), delay);
		}
		catch (RuntimeException ex) {
			logger.debug("Saga {} could not be released; it is taken over when its lease has ended", run.id(), ex);
		}
		return RunEnd.released(delay, failure);
	}

	/**
	 * Changes the status, and writes the outcomes that are not written yet.
	 * @return {@code false} if it had no effect
	 * @throws LeaveBody if that is unknown
	 */
	boolean change(SagaRun run, SagaStatus to, byte @Nullable [] result, @Nullable String reason, Duration due) {
		List<JournalEntry> entries = run.journal().unwritten();
		try {
			return this.resources.store()
				.change(run.owner(), new StatusChange(run.status(), to, result, reason, due), entries);
		}
		catch (RuntimeException ex) {
			throw LeaveBody.because(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
	}

}
