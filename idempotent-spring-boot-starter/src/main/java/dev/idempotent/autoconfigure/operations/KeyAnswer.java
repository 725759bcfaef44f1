package dev.idempotent.autoconfigure.operations;

import dev.idempotent.idempotency.IdempotencyKey;
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
record KeyAnswer(String digest, String place, KeyFacts key, @Nullable KeyFacts store, String meaning) {

	static KeyAnswer of(IdempotencyKey key, FoundKey found) {
		KeyState inStore = (found.inDatabase() != null) ? found.inStore() : null;
		boolean differs = inStore != null && inStore.state() != found.deciding().state();
		return new KeyAnswer(key.digest(), (found.inDatabase() != null) ? "database" : "store",
				KeyFacts.of(found.deciding()), (differs && inStore != null) ? KeyFacts.of(inStore) : null,
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

}
