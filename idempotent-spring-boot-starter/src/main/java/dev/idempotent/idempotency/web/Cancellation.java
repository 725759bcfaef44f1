package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * A request that cancels an action. In its transaction, the record of the action decides
 * whether the handler runs; an absent record becomes a tombstone, which prevents an
 * action that arrives later.
 *
 * @param key the key of the action
 * @param done whether the caller knows that the action was done
 * @param action the settings of the action
 * @param transactions the transactions of the action
 */
record Cancellation(IdempotencyKey key, boolean done, OperationSettings action, IdempotencyTransactions transactions) {

	static final String HEADER = "Idempotency-Cancels";

	/**
	 * A quoted key can have a backslash before each of its 255 characters.
	 */
	static final int MAX_LENGTH = 600;

	private static final Pattern VALUE = Pattern
		.compile("(\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|[^\";\\s]++)(?:\\s*+;\\s*+outcome=(done|unknown))?");

	private static final KeyHeader keyHeader = new KeyHeader(HEADER);

	/**
	 * Contradicts no request: no format of fingerprints has this version.
	 */
	private static final Fingerprint ANY = new Fingerprint(0, "0".repeat(64));

	/**
	 * Reads the header of a request.
	 * @param keys creates the key of a header's value, in the scope of the caller
	 * @param own the key of the request itself
	 * @throws RefusedRequestException if the header was not sent, or sent twice, or is
	 * malformed, or has the key of the request itself
	 */
	static Cancellation read(HttpServletRequest request, Function<String, IdempotencyKey> keys, IdempotencyKey own,
			OperationSettings action, IdempotencyTransactions transactions) {
		Enumeration<String> values = request.getHeaders(HEADER);
		if (!values.hasMoreElements()) {
			throw Problem.KEY_MISSING.refusal("This operation cancels another one and needs the header " + HEADER
					+ " with the idempotency key of that one. Nothing was done.");
		}
		Matcher parts = match(values.nextElement());
		if (parts == null || values.hasMoreElements()) {
			throw Problem.KEY_MALFORMED.refusal("The header " + HEADER
					+ " must be sent once, with a key and what is known of its request, such as <key>; outcome=done or "
					+ "<key>; outcome=unknown. Nothing was done.");
		}
		IdempotencyKey key = keys.apply(keyHeader.parse(parts.group(1)));
		if (key.equals(own)) {
			throw Problem.KEY_MALFORMED.refusal("The header " + HEADER
					+ " names the key of the request itself. Send a key of its own with each request.");
		}
		return new Cancellation(key, "done".equals(parts.group(2)), action, transactions);
	}

	private static @Nullable Matcher match(String value) {
		Matcher parts = VALUE.matcher(value.strip());
		return (value.length() <= MAX_LENGTH && parts.matches()) ? parts : null;
	}

	/**
	 * Returns the fingerprint of the request: which handler cancels which action. So one
	 * cancellation cannot be repeated for another action, and a body that a gateway has
	 * lost on the way does not make it another one.
	 * @param operation the name of the operation that cancels
	 */
	Fingerprint fingerprint(String operation) {
		return Fingerprint.of(List.of(operation.getBytes(StandardCharsets.UTF_8),
				this.key.digest().getBytes(StandardCharsets.US_ASCII)));
	}

	/**
	 * Decides in the open transaction of the calling thread.
	 * @throws IdempotencyStoreException if the record cannot be read or written
	 */
	Verdict decide(IdempotencyEngine engine, ProblemTypes problems) {
		Claim onRecord = engine.completeIfFree(this.action.observed(Kind.HTTP), this.key, ANY,
				problems.respond(Problem.CANCELLED).encode(), this.action.retention(), this.transactions);
		if (onRecord.isPending()) {
			return Verdict.WAIT;
		}
		if (onRecord instanceof Claim.Completed completed && hadEffect(completed.response())) {
			return Verdict.RUN;
		}
		if (onRecord instanceof Claim.Completed || onRecord.isAcquired()) {
			return this.done ? Verdict.REFUSE : Verdict.SKIP;
		}
		throw new IllegalStateException("The fingerprint of a tombstone contradicts the fingerprint of its action");
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
		 * The caller states that the action had its effect, and there is no record of
		 * that.
		 */
		REFUSE,

		/**
		 * The action is in progress.
		 */
		WAIT

	}

}
