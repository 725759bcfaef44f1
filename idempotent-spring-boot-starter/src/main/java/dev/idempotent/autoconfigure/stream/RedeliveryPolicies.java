package dev.idempotent.autoconfigure.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.stream.RedeliveryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * All that an application knows of failures.
 *
 * @param known the first that knows a failure decides
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
