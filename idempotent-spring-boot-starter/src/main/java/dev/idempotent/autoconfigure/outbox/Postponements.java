package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.inbox.Postponement;
import org.jspecify.annotations.Nullable;

/**
 * All that an application knows of failures.
 *
 * @param known the first that knows a failure decides
 */
record Postponements(List<Postponement> known) implements Postponement {

	@Override
	public @Nullable Duration after(Throwable failure) {
		return this.known.stream().map((each) -> each.after(failure)).filter(Objects::nonNull).findFirst().orElse(null);
	}

	@Override
	public boolean isHopeless(Throwable failure) {
		return this.known.stream().anyMatch((each) -> each.isHopeless(failure));
	}

}
