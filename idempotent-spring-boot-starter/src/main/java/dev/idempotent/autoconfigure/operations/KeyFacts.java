package dev.idempotent.autoconfigure.operations;

import java.time.Duration;
import java.util.Map;

import dev.idempotent.idempotency.StoredKey;

/**
 * What is known of a key in one place.
 *
 * @param state whether the work runs or is done
 * @param remaining how long the lease or the retention lasts from now on
 */
record KeyFacts(StoredKey.State state, Duration remaining) {

	static KeyFacts of(StoredKey stored) {
		return new KeyFacts(stored.state(), stored.remaining());
	}

	/**
	 * Adds what an audit event contains.
	 */
	void describe(Map<String, Object> data) {
		data.put("state", this.state.name());
	}

}
