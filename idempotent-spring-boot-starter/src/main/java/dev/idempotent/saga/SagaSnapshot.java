package dev.idempotent.saga;

import java.time.Instant;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * The state of a saga at one moment, without arguments and results.
 *
 * @param id the id
 * @param name the name of the {@link Saga}
 * @param status the status
 * @param reason why it is undone or halted, or {@code null}
 * @param attempts how often it was taken over without progress
 * @param createdAt when it began, by the clock of the database
 * @param deadline when it is undone unless it has completed, by the clock of the database
 * @param waiting what it waits for, or {@code null}
 * @param steps the recorded steps and waits, in the order in which they began
 */
public record SagaSnapshot(IdempotencyKey id, String name, SagaStatus status, @Nullable String reason, int attempts,
		Instant createdAt, Instant deadline, @Nullable Waiting waiting, List<Step> steps) {

	/**
	 * A wait in progress.
	 *
	 * @param name the name of the wait
	 * @param signal whether a signal of this name ends it, and not only time
	 * @param since when it began, by the clock of the database
	 * @param until when it ends without a signal, by the clock of the database
	 */
	public record Waiting(String name, boolean signal, Instant since, Instant until) {
	}

	/**
	 * A recorded step.
	 *
	 * @param name the name
	 * @param state the state
	 * @param reason why it was refused or could not be undone, or {@code null}
	 * @param note the note of the operator who skipped it, or {@code null}
	 * @param actionKey the key of its action, by which the called service can be searched
	 * @param undoKey the key of its next or last undo
	 */
	public record Step(String name, StepState state, @Nullable String reason, @Nullable String note,
			IdempotencyKey actionKey, IdempotencyKey undoKey) {
	}

}
