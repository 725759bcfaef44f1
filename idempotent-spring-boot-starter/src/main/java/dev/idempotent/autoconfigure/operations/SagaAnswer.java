package dev.idempotent.autoconfigure.operations;

import java.util.List;

import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;

/**
 * A saga with its steps. Contains neither arguments nor results.
 *
 * @param saga the saga
 * @param steps the recorded steps, in the order in which they began
 * @param meaning what the status means
 */
record SagaAnswer(Facts saga, List<Step> steps, String meaning) {

	static SagaAnswer of(SagaSnapshot saga) {
		return new SagaAnswer(Facts.of(saga),
				saga.steps()
					.stream()
					.map((step) -> new Step(step.name(), step.state(), step.reason(), step.note(),
							step.actionKey().digest(), step.undoKey().digest()))
					.toList(),
				meaning(saga.status()));
	}

	private static String meaning(SagaStatus status) {
		return switch (status) {
			case STARTED -> "An instance that has a method of this name runs it";
			case EXECUTING -> "Its steps are run. If they fail, or the deadline passes, it is undone";
			case COMPENSATING -> "Its steps are undone. If that fails, it is repeated or halted";
			case COMPLETED -> "Each step has taken effect once: retries get the stored result";
			case COMPENSATED -> "The steps that had taken effect are undone: retries get an error";
			case HALTED -> "It does not continue by itself. Correct the cause and retry it, or undo a step by hand, "
					+ "skip that step and retry";
		};
	}

	/**
	 * A saga without its steps. Times are in ISO-8601 format, by the clock of the
	 * database.
	 *
	 * @param reason why it is undone or halted, or {@code null}
	 * @param attempts how often it was taken over without progress
	 */
	record Facts(String id, String name, SagaStatus status, @Nullable String reason, int attempts, String createdAt,
			String deadline) {

		static Facts of(SagaSnapshot saga) {
			return new Facts(saga.id().digest(), saga.name(), saga.status(), saga.reason(), saga.attempts(),
					saga.createdAt().toString(), saga.deadline().toString());
		}

	}

	/**
	 * A recorded step.
	 *
	 * @param reason why it was refused or could not be undone, or {@code null}
	 * @param note the note of the operator who skipped it, or {@code null}
	 * @param actionKey the key of its action, which its calls carry or are derived from
	 * @param undoKey the same for its undo
	 */
	record Step(String name, StepState state, @Nullable String reason, @Nullable String note, String actionKey,
			String undoKey) {
	}

}
