package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * Operations of operators on the sagas in the database of the application. Each operation
 * commits by itself and reads a limited number of rows.
 */
public interface SagaAdministration {

	/**
	 * How long an open saga has been due that no process runs: a process that has its
	 * method takes it over within a second if a worker is free.
	 */
	Duration FORSAKEN = Duration.ofMinutes(1);

	/**
	 * The beginning of the reason of a saga that an operator has aborted.
	 */
	String ABORTED = "An operator has aborted the saga: ";

	/**
	 * The beginning of the reason of a saga that an operator has closed.
	 */
	String CLOSED = "An operator has closed the saga: ";

	/**
	 * Continues a halted saga in the status in which it was halted. Any instance can take
	 * it over at once, without attempts or incompatible runs, and a former owner is
	 * fenced. The next call of each step is not compared with an earlier one.
	 * @param id the id
	 * @return {@code false} if it is not halted
	 */
	boolean retry(IdempotencyKey id);

	/**
	 * Continues a halted saga, as {@link #retry(IdempotencyKey)} does, unless it has
	 * changed since it was read.
	 * @param halted the id and the epoch of the saga as it was read
	 * @return {@code false} if it is not halted, or has changed
	 */
	boolean retry(SagaOwner halted);

	/**
	 * Undoes a saga that is run, or was halted while it was run. Its deadline becomes a
	 * time that is long ago, so that either its end as completed or the abort has an
	 * effect, and its lease ends, also if it is late or cancelled and its owner hangs.
	 * Any instance that has a method of its name undoes it at once.
	 * @param id the id
	 * @param note why, without personal data; cut after 1000 characters with what is put
	 * before it
	 * @return {@code false} if it is undone already, has ended, or has a step whose
	 * transaction is open
	 */
	boolean abort(IdempotencyKey id, String note);

	/**
	 * Ends a saga as {@link SagaStatus#COMPENSATED} that is halted, or that is open and
	 * that no process has taken over although it has been due for at least
	 * {@link #FORSAKEN}, because an operator has undone by hand what it has done. Needs
	 * no method of its name. The steps that are still to be undone are recorded as
	 * {@link StepState#SKIPPED}. Fences a former owner.
	 * @param version the id and the epoch of the saga as it was read
	 * @param note what the operator did, without personal data; cut after 1000 characters
	 * @return {@code false} if it is neither, or has changed since it was read
	 */
	boolean close(SagaOwner version, String note);

	/**
	 * Records that an operator has undone a step by hand, so that it is not undone when
	 * the saga continues. Fences a former owner. Can be repeated with the same note.
	 * @param id the id of a saga that was halted while {@link SagaStatus#COMPENSATING}
	 * @param step the name of a recorded step that is not undone
	 * @param note what the operator did, without personal data; cut after 1000 characters
	 * @return {@code false} if there is no such saga or step, or the step was skipped
	 * with another note
	 */
	boolean skip(IdempotencyKey id, String step, String note);

	/**
	 * Moves a saga that waits into the past with its steps and its deadline, so that the
	 * time of its wait has passed. For tests of applications.
	 * @param id the id
	 * @return {@code false} if it does not wait
	 */
	boolean expireWait(IdempotencyKey id);

	/**
	 * Finds a saga, without its arguments and results.
	 * @param id the id
	 * @return the saga with its steps, or {@code null}
	 */
	@Nullable OperatedSaga inspect(IdempotencyKey id);

	/**
	 * Lists sagas without their steps: open ones in the order in which they are due, then
	 * those that are halted, from the one that was halted first; or ended ones in reverse
	 * order of their end.
	 * @param status their status, or {@code null} for those that are open or halted
	 * @param name their name, or {@code null}
	 * @param after the end of the previous page, or {@code null} for the first page. An
	 * open saga may appear again, as each renewal of its lease moves it back
	 * @param limit the largest number
	 * @return a page
	 * @throws IllegalArgumentException if this is not the end of a page
	 */
	Page list(@Nullable SagaStatus status, @Nullable String name, @Nullable String after, int limit);

	/**
	 * Counts the sagas that are open or halted.
	 * @param served the names that some instance serves
	 * @param limit how many sagas of each status are counted at most
	 * @return the numbers
	 */
	Counts count(Collection<String> served, int limit);

	/**
	 * A page of a list.
	 *
	 * @param sagas the sagas, without their steps
	 * @param next the end of this page, or {@code null} if it is the last one
	 */
	record Page(List<OperatedSaga> sagas, @Nullable String next) {
	}

	/**
	 * A saga as operators see it. Times are by the clock of the database.
	 *
	 * @param version the id and the epoch
	 * @param name the name
	 * @param status the status
	 * @param haltedIn the status in which it was halted, or {@code null}
	 * @param haltedAt when it was halted, or {@code null}
	 * @param haltReason why it is halted, or {@code null}
	 * @param reason why it is undone, or {@code null}
	 * @param process the id of the process that runs it or was the last to; {@code null}
	 * if that has released it
	 * @param dueIn the time until any process can take it over, of an ended one the rest
	 * of its retention; zero if that has passed, {@code null} if it is halted
	 * @param attempts how often it was taken over without progress
	 * @param createdAt when it began
	 * @param deadline when it is undone unless it has completed
	 * @param waitsFor the name of the wait because of which no process runs it, or
	 * {@code null}
	 * @param steps the recorded steps and waits, in the order in which they began
	 */
	record OperatedSaga(SagaOwner version, String name, SagaStatus status, @Nullable SagaStatus haltedIn,
			@Nullable Instant haltedAt, @Nullable String haltReason, @Nullable String reason, @Nullable String process,
			@Nullable Duration dueIn, int attempts, Instant createdAt, Instant deadline, @Nullable String waitsFor,
			List<OperatedStep> steps) {

		/**
		 * The id.
		 * @return the id
		 */
		public IdempotencyKey id() {
			return this.version.id();
		}

		/**
		 * The step at which a halted saga has stopped, and at which a retry continues.
		 * @return the step that it was undoing, or whose action it had called; or
		 * {@code null}
		 */
		public @Nullable String haltedStep() {
			Predicate<OperatedStep> isOpen = (this.haltedIn == SagaStatus.COMPENSATING) ? OperatedStep::isToUndo
					: (step) -> step.state().equals(StepState.ACTING.name());
			return (this.haltedIn == null) ? null
					: this.steps.stream()
						.filter(isOpen)
						.reduce((first, second) -> second)
						.map(OperatedStep::name)
						.orElse(null);
		}

		/**
		 * Whether a step needs an operator because the saga cannot undo it: the saga was
		 * halted at it, its undo was refused, or the outcome of its undo is unknown. The
		 * saga undoes other steps by itself when it is retried.
		 * @param step a recorded step
		 * @return whether it is stuck
		 */
		public boolean isStuck(OperatedStep step) {
			if (this.haltedIn != SagaStatus.COMPENSATING || !step.isToUndo()) {
				return false;
			}
			return step.refusedUndos() > 0 || step.state().equals(StepState.COMPENSATING.name())
					|| (step.name().equals(haltedStep()) && this.steps.stream().noneMatch(this::wasSkippedSinceHalt));
		}

		private boolean wasSkippedSinceHalt(OperatedStep step) {
			return step.state().equals(StepState.SKIPPED.name()) && this.haltedAt != null && step.endedAt() != null
					&& !step.endedAt().isBefore(this.haltedAt);
		}

		/**
		 * The key of the action of a step.
		 * @param step a recorded step
		 * @return the key, by which the called service can be searched
		 */
		public IdempotencyKey actionKey(OperatedStep step) {
			return this.version.actionKey(step.name());
		}

		/**
		 * The key of the next or last undo of a step.
		 * @param step a recorded step
		 * @return the key
		 */
		public IdempotencyKey undoKey(OperatedStep step) {
			return this.version.undoKey(step.name(), step.refusedUndos());
		}

	}

	/**
	 * A recorded step as operators see it, also if a later version of the application has
	 * recorded it. Outcomes are written with what follows them, so that times may be
	 * later than the calls.
	 *
	 * @param name the name
	 * @param kind how it runs and is undone, the name of a {@link StepKind}
	 * @param state the state, the name of a {@link StepState}
	 * @param reason why its action was refused, or {@code null}
	 * @param note the note of the operator who skipped it, or {@code null}
	 * @param refusedUndos how many undo calls were refused
	 * @param begunAt when it began
	 * @param compensatingAt when its undo began, or {@code null}
	 * @param endedAt when its action or undo ended, or {@code null}
	 */
	record OperatedStep(String name, String kind, String state, @Nullable String reason, @Nullable String note,
			int refusedUndos, Instant begunAt, @Nullable Instant compensatingAt, @Nullable Instant endedAt) {

		/**
		 * Whether it must be undone before the saga is compensated.
		 * @return {@code false} if it has no undo, or has nothing to undo any more
		 */
		public boolean isToUndo() {
			return JournalEntry.isToUndo(this.kind, this.state, this.reason != null);
		}

	}

	/**
	 * The sagas that are open or halted.
	 *
	 * @param byStatus how many have each of these statuses
	 * @param waiting how many wait for a signal or for some time
	 * @param unserved how many open ones have a name that is not served
	 * @param oldestDue how long the oldest due saga has waited for an owner; zero if none
	 * does
	 * @param exact whether there are no more than were counted
	 */
	record Counts(Map<SagaStatus, Integer> byStatus, int waiting, int unserved, Duration oldestDue, boolean exact) {

		/**
		 * Copies the map.
		 */
		public Counts {
			byStatus = Map.copyOf(byStatus);
		}

	}

}
