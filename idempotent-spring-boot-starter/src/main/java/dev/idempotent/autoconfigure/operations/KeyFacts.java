package dev.idempotent.autoconfigure.operations;

import java.util.Map;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.claim.KeyState;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a key in one place.
 *
 * @param state whether the work runs or is done
 * @param since when the run claimed the key, in ISO-8601 format, or {@code null} if it is
 * unknown
 * @param remaining how long the lease or the retention lasts from now on, in ISO-8601
 * format
 * @param guarantee the guarantee of the run, or {@code null} if it is unknown
 * @param traceId the trace of the run, or {@code null} without one
 */
record KeyFacts(StoredKey.State state, @Nullable String since, String remaining, @Nullable Guarantee guarantee,
		@Nullable String traceId) {

	static KeyFacts of(KeyState key) {
		RunOrigin origin = key.origin();
		String remaining = key.remaining().toString();
		return (origin == null) ? new KeyFacts(key.state(), null, remaining, null, null)
				: new KeyFacts(key.state(), origin.since().toString(), remaining, origin.guarantee(), origin.traceId());
	}

	/**
	 * Adds what an audit event contains.
	 */
	void describe(Map<String, Object> data) {
		data.put("state", this.state.name());
		if (this.since != null) {
			data.put("since", this.since);
		}
		if (this.guarantee != null) {
			data.put("guarantee", this.guarantee.name());
		}
	}

}
