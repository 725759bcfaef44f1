package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import jakarta.servlet.http.HttpServletResponse;

/**
 * A request that cancels an action. In its transaction, the record of the action decides
 * whether the handler runs; an absent record becomes a tombstone, which prevents an
 * action that arrives later.
 *
 * @param action the operation of the action
 * @param key the key of the action
 * @param done whether the caller knows that the action was done
 */
record Cancellation(IdempotentOperation action, IdempotencyKey key, boolean done) {

	/**
	 * Contradicts no request: no format of fingerprints has this version.
	 */
	private static final Fingerprint ANY = new Fingerprint(0, "0".repeat(64));

	/**
	 * Decides in the open transaction of the calling thread.
	 * @throws IdempotencyStoreException if the record cannot be read or written
	 */
	Verdict decide(IdempotencyGuard guard, ProblemTypes problems) {
		Claim onRecord = guard.completeIfFree(this.action.settings().observed(Kind.HTTP), this.key, ANY,
				tombstone(problems), this.action.settings().retention(),
				Objects.requireNonNull(this.action.transactions()));
		return onRecord.<Verdict, RuntimeException>fold((tombstone) -> this.done ? Verdict.RUN : Verdict.SKIP,
				(pending) -> Verdict.WAIT,
				(completed) -> (this.done || hadEffect(completed.response())) ? Verdict.RUN : Verdict.SKIP,
				(mismatched) -> {
					throw new IllegalStateException("The fingerprint of a tombstone contradicts that of its action");
				});
	}

	/**
	 * Adds the key of the action to the fingerprint of the request, so that one
	 * cancellation cannot be repeated for another action.
	 */
	Fingerprint addTo(Fingerprint fingerprint) {
		return Fingerprint.of(List.of(fingerprint.digest().getBytes(StandardCharsets.US_ASCII),
				this.key.digest().getBytes(StandardCharsets.US_ASCII)));
	}

	private static StoredResponse tombstone(ProblemTypes problems) {
		return problems.respond(Problem.CANCELLED).encode();
	}

	private boolean hadEffect(StoredResponse stored) {
		if (!stored.isKept()) {
			return true;
		}
		CapturedResponse response = CapturedResponse.decode(stored);
		if (response == null) {
			throw new IdempotencyStoreException("A later version has written the response of key " + this.key, null);
		}
		return response.status() < HttpServletResponse.SC_BAD_REQUEST;
	}

	/**
	 * How to handle a request that cancels an action.
	 */
	enum Verdict {

		/**
		 * The action had its effect.
		 */
		RUN,

		/**
		 * The action had no effect and will not have one.
		 */
		SKIP,

		/**
		 * The action is in progress.
		 */
		WAIT

	}

}
