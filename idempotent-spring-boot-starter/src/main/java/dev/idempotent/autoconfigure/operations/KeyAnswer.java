package dev.idempotent.autoconfigure.operations;

import java.util.Map;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.claim.FoundKey;
import dev.idempotent.idempotency.claim.KeyState;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a request for a key. Contains neither the key nor its response.
 *
 * @param digest the digest of the key
 * @param place the place that decides: {@code database} or {@code store}
 * @param key the key in that place
 * @param store the key in the store in front of the database, if it differs
 * @param meaning what requests with this key get
 */
record KeyAnswer(String digest, String place, Facts key, @Nullable Facts store, String meaning) {

	static KeyAnswer of(IdempotencyKey key, FoundKey found) {
		KeyState inStore = (found.inDatabase() != null) ? found.inStore() : null;
		boolean differs = inStore != null && inStore.state() != found.deciding().state();
		return new KeyAnswer(key.digest(), (found.inDatabase() != null) ? "database" : "store",
				Facts.of(found.deciding()), (differs && inStore != null) ? Facts.of(inStore) : null,
				meaning(found, differs));
	}

	private static String meaning(FoundKey found, boolean differs) {
		if (!found.storeAnswered()) {
			return "The work is done. The store in front of the database did not respond: it may have a claim on the key";
		}
		if (differs) {
			return "The work is done. The claim in the store ends with its lease; requests then get the stored response";
		}
		if (found.deciding().state() == StoredKey.State.PENDING) {
			return "A run has claimed the key. While its process lives, it renews the lease; if it died, the key is free "
					+ "when the remaining time has passed";
		}
		return found.deciding().replayable() ? "The work is done: retries get the stored response"
				: "The work is done, but its response was not kept or cannot be read: retries get an error";
	}

	/**
	 * What is known of a key in one place.
	 *
	 * @param state whether the work runs or is done
	 * @param since when the run claimed the key, in ISO-8601 format, or {@code null} if
	 * it is unknown
	 * @param remaining how long the lease or the retention lasts from now on, in ISO-8601
	 * format
	 * @param guarantee the guarantee of the run, or {@code null} if it is unknown
	 * @param traceId the trace of the run, or {@code null} without one
	 */
	record Facts(StoredKey.State state, @Nullable String since, String remaining, @Nullable Guarantee guarantee,
			@Nullable String traceId) {

		static Facts of(KeyState key) {
			RunOrigin origin = key.origin();
			String remaining = key.remaining().toString();
			return (origin == null) ? new Facts(key.state(), null, remaining, null, null) : new Facts(key.state(),
					origin.since().toString(), remaining, origin.guarantee(), origin.traceId());
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

}
