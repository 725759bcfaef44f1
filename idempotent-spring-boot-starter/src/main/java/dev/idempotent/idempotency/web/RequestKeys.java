package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.KeySource;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Resolves the key of a request as its operation specifies, in the scope of the caller.
 */
final class RequestKeys {

	private final String namespace;

	private final KeyHeader header;

	private final IdempotencyScopeResolver scopeResolver;

	/**
	 * Creates the source of an application's keys.
	 * @param namespace the application
	 * @param headerName the header that carries the key
	 * @param scopeResolver resolves the scope of a key
	 */
	RequestKeys(String namespace, String headerName, IdempotencyScopeResolver scopeResolver) {
		this.namespace = namespace;
		this.header = new KeyHeader(headerName);
		this.scopeResolver = scopeResolver;
	}

	/**
	 * Resolves the key.
	 * @throws RefusedRequestException if the key is missing or malformed
	 */
	IdempotencyKey resolve(IdempotentOperation operation, ReadRequest read, Fingerprint fingerprint) {
		HttpServletRequest request = read.request();
		RequestKeyExpression expression = operation.keyExpression();
		if (expression != null) {
			String value = expression.evaluate(request, read.body());
			if (value == null) {
				throw new RefusedRequestException(Problem.KEY_MISSING,
						"This operation derives its idempotency key from the request, and this request lacks the "
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
		throw new RefusedRequestException(Problem.CALLER_UNKNOWN,
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
			throw new RefusedRequestException(Problem.CALLER_UNKNOWN, "Nothing was done: the IdempotencyScopeResolver "
					+ this.scopeResolver.getClass().getName()
					+ " returned null for this request. Let it return an empty string for a caller that it does not know.");
		}
		return scope;
	}

}
