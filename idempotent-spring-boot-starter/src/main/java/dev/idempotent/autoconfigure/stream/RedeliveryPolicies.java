package dev.idempotent.autoconfigure.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.stream.RedeliveryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Combines all redelivery policies of an application.
 *
 * @param known in the order in which they are consulted; the first delay is used
 */
record RedeliveryPolicies(List<RedeliveryPolicy> known) implements RedeliveryPolicy {

	@Override
	public @Nullable Duration redeliveryDelay(Throwable failure) {
		return this.known.stream()
			.map((each) -> each.redeliveryDelay(failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	@Override
	public boolean isFatal(Throwable failure) {
		return this.known.stream().anyMatch((each) -> each.isFatal(failure));
	}

}
