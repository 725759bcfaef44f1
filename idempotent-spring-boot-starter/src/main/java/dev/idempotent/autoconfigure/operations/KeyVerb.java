package dev.idempotent.autoconfigure.operations;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.claim.KeyAdministration;
import dev.idempotent.idempotency.claim.KeyChange;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a key that an operator can request.
 */
enum KeyVerb {

	/**
	 * Releases a pending key.
	 */
	RELEASE("released", "IDEMPOTENCY_KEY_RELEASED", "The key is completed, so there is no claim to release",
			"Use DELETE /actuator/idempotency/{digest} if its work must run again") {

		@Override
		KeyChange apply(KeyAdministration keys, IdempotencyKey key) {
			return keys.release(key);
		}

		@Override
		String consequence(@Nullable Duration replayCacheTtl) {
			return "The next request with this key runs the work. If the first run is still alive, it claims the key again "
					+ "within a third of its lease; with a request before that, both run under Guarantee.LEASE, and under "
					+ "Guarantee.TRANSACTION the database refuses the second while the first lasts";
		}

	},

	/**
	 * Deletes a completed key.
	 */
	FORGET("forgotten", "IDEMPOTENCY_KEY_FORGOTTEN", "A run has claimed the key and could complete it again",
			"Wait until the lease ends, or use POST /actuator/idempotency/{digest} first if the process of the run has died") {

		@Override
		KeyChange apply(KeyAdministration keys, IdempotencyKey key) {
			return keys.forget(key);
		}

		@Override
		String consequence(@Nullable Duration replayCacheTtl) {
			String again = "The next request with this key runs the work again: a retry of a payment pays again";
			return (replayCacheTtl != null) ? again + ". Other instances may still replay the old response for up to "
					+ replayCacheTtl + " (idempotent.replay-cache.ttl)" : again;
		}

	};

	private final String past;

	private final String auditType;

	private final String refusal;

	private final String action;

	KeyVerb(String past, String auditType, String refusal, String action) {
		this.past = past;
		this.auditType = auditType;
		this.refusal = refusal;
		this.action = action;
	}

	abstract KeyChange apply(KeyAdministration keys, IdempotencyKey key);

	/**
	 * What requests get after the change.
	 * @param replayCacheTtl the time to live of the replay cache, or {@code null}
	 */
	abstract String consequence(@Nullable Duration replayCacheTtl);

	RefusedOperationException refused() {
		return RefusedOperationException.conflict(this.refusal, this.action);
	}

	String past() {
		return this.past;
	}

	String auditType() {
		return this.auditType;
	}

}
