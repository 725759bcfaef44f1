package dev.idempotent.autoconfigure.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.stream.RedeliveryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Combines all redelivery policies of an application.
 *
 * @param known in the order in which they are asked; the first answer counts
 */
record RedeliveryPolicies(List<RedeliveryPolicy> known) implements RedeliveryPolicy {

	@Override
	public @Nullable Duration after(Throwable failure) {
		return this.known.stream().map((each) -> each.after(failure)).filter(Objects::nonNull).findFirst().orElse(null);
	}

	@Override
	public boolean isHopeless(Throwable failure) {
		return this.known.stream().anyMatch((each) -> each.isHopeless(failure));
	}

}
