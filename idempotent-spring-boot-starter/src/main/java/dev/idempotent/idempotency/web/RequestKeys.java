package dev.idempotent.idempotency.web;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.token.TokenCheck;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the key of a request as its operation specifies, in the scope of the caller.
 */
final class RequestKeys {

	private final String namespace;

	private final KeyHeader header;

	private final IdempotencyScopeResolver scopeResolver;

	private final RequestTokens tokens;

	/**
	 * Creates the source of an application's keys.
	 * @param namespace the application
	 * @param headerName the header that carries the key
	 * @param scopeResolver resolves the scope of a key
	 * @param tokens reads one-time tokens
	 */
	RequestKeys(String namespace, String headerName, IdempotencyScopeResolver scopeResolver, RequestTokens tokens) {
		this.namespace = namespace;
		this.header = new KeyHeader(headerName);
		this.scopeResolver = scopeResolver;
		this.tokens = tokens;
	}

	/**
	 * Resolves the key.
	 * @throws RefusedRequestException if the key is missing, malformed or not accepted
	 */
	RequestKey resolve(IdempotentOperation operation, ReadRequest read, Fingerprint fingerprint) {
		Duration retention = operation.settings().retention();
		if (operation.keySource() != KeySource.TOKEN) {
			return new RequestKey(keyOf(operation, read, fingerprint), retention, false);
		}
		String purpose = operation.settings().name();
		TokenCheck token = this.tokens.check(read, this.header, purpose);
		return new RequestKey(IdempotencyKey.of(IdempotencyKey.Kind.TOKEN, this.namespace, "", purpose, token.serial()),
				(token.retention().compareTo(retention) > 0) ? token.retention() : retention,
				token.outcome() == TokenCheck.Outcome.EXPIRED);
	}

	private IdempotencyKey keyOf(IdempotentOperation operation, ReadRequest read, Fingerprint fingerprint) {
		HttpServletRequest request = read.request();
		RequestKeyExpression expression = operation.keyExpression();
		if (expression != null) {
			String value = expression.evaluate(request, read.body());
			if (value == null) {
				throw Problem.KEY_MISSING
					.refusal("This operation derives its idempotency key from the request, and this request lacks the "
							+ "value of the key.");
			}
			return key(IdempotencyKey.Kind.EXPRESSION, request, operation.settings().name(), value);
		}
		String value = (operation.keySource() != KeySource.FINGERPRINT) ? this.header.read(request) : null;
		if (value != null) {
			return key(IdempotencyKey.Kind.HEADER, request, "", value);
		}
		if (operation.keySource() == KeySource.HEADER) {
			throw this.header.missing();
		}
		return fingerprintKey(operation, scope(request), fingerprint);
	}

	/**
	 * Resolves the action that a request cancels, in the scope of the caller.
	 * @throws RefusedRequestException if its key is missing, malformed or the one of the
	 * request
	 */
	Cancellation resolve(IdempotentOperation action, HttpServletRequest request, IdempotencyKey own) {
		CancelsHeader header = CancelsHeader.read(request);
		IdempotencyKey key = key(IdempotencyKey.Kind.HEADER, request, "", header.key());
		if (key.equals(own)) {
			throw Problem.KEY_MALFORMED.refusal("The headers " + CancelsHeader.NAME
					+ " and that of the idempotency key have the same key. Send a key of its own with each request.");
		}
		return new Cancellation(action, key, header.done());
	}

	/**
	 * Requires a caller: a cancellation without one would not find the action of its
	 * caller.
	 * @throws RefusedRequestException if the caller is unknown
	 */
	void requireCaller(HttpServletRequest request) {
		String problem = callerProblem(request);
		if (problem != null) {
			throw Problem.CALLER_REQUIRED.refusal(problem);
		}
	}

	private @Nullable String callerProblem(HttpServletRequest request) {
		try {
			return scope(request).isEmpty()
					? "Nothing was done: the caller is unknown, and this operation cancels "
							+ "another one or can be cancelled, so both must have the same known caller. Let only "
							+ "authenticated callers use it, or declare a bean of type IdempotencyScopeResolver."
					: null;
		}
		catch (RefusedRequestException ex) {
			return ex.detail();
		}
	}

	/**
	 * A fingerprint is used as a key only for a known caller: equal requests of two
	 * callers are two operations.
	 */
	private IdempotencyKey fingerprintKey(IdempotentOperation operation, String scope, Fingerprint fingerprint) {
		if (!scope.isEmpty()) {
			return IdempotencyKey.of(IdempotencyKey.Kind.FINGERPRINT, this.namespace, scope,
					operation.settings().name(), fingerprint.digest());
		}
		if (operation.keySource() == KeySource.HEADER_OR_FINGERPRINT) {
			throw this.header.missing();
		}
		throw Problem.CALLER_UNKNOWN.refusal(
				"Nothing was done: this operation takes its idempotency key from the fingerprint, and the caller is not known, "
						+ "so equal requests of two callers would count as one. Let only authenticated callers use it, or "
						+ "declare a bean of type IdempotencyScopeResolver.");
	}

	private IdempotencyKey key(IdempotencyKey.Kind kind, HttpServletRequest request, String operation, String value) {
		return IdempotencyKey.of(kind, this.namespace, scope(request), operation, value);
	}

	private String scope(HttpServletRequest request) {
		String scope = this.scopeResolver.resolveScope(request);
		if (scope == null) {
			throw Problem.CALLER_UNKNOWN.refusal("Nothing was done: the IdempotencyScopeResolver "
					+ this.scopeResolver.getClass().getName()
					+ " returned null for this request. Let it return an empty string for a caller that it does not know.");
		}
		return scope;
	}

}
