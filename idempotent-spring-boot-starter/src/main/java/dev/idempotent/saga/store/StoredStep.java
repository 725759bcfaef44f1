package dev.idempotent.saga.store;

import java.time.Duration;

import dev.idempotent.saga.SagaSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the journal as it is stored.
 *
 * @param entry the entry
 * @param age the time since the step began
 * @param compensatingFor the time since it is being undone; zero if it is not
 * @param note the note of the operator who skipped it, or {@code null}
 */
public record StoredStep(JournalEntry entry, Duration age, Duration compensatingFor, @Nullable String note) {

	SagaSnapshot.Step toSnapshot(SagaOwner owner) {
		return new SagaSnapshot.Step(this.entry.name(), this.entry.state(), this.entry.reason(), this.note,
				owner.actionKey(this.entry.name()), owner.undoKey(this.entry));
	}

}
