package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * The state of a key in one place, for operators.
 *
 * @param state the state
 * @param remaining how long the lease or the retention lasts from now on
 * @param origin where the run comes from, or {@code null} if it is unknown
 * @param replayable whether a completed key has a response that can be read
 */
public record KeyState(StoredKey.State state, Duration remaining, @Nullable RunOrigin origin, boolean replayable) {

	/**
	 * Reads the origin of a completed key from its response: another claimant may have
	 * copied it from the database.
	 */
	static KeyState of(ResponseEnvelope envelope, IdempotencyKey key, StoredKey stored) {
		StoredResponse response = stored.response();
		if (response == null) {
			return new KeyState(stored.state(), stored.remaining(), RunOrigin.ofToken(stored.token()), false);
		}
		try {
			return new KeyState(stored.state(), stored.remaining(), ResponseEnvelope.origin(key, response),
					envelope.decrypt(key, response).isKept());
		}
		catch (IdempotencyStoreException ex) {
			// A damaged response is one that an operator wants to forget.
			return new KeyState(stored.state(), stored.remaining(), RunOrigin.ofToken(stored.token()), false);
		}
	}

	boolean isPending() {
		return this.state == StoredKey.State.PENDING;
	}

}
