package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.RequestReader.ReadRequest;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Finds the key of a request, as its operation says, in the scope of its caller.
 */
public final class RequestKeys {

	private final String namespace;

	private final KeyHeader header;

	private final IdempotencyScopeResolver scopeResolver;

	/**
	 * Creates the source of an application's keys.
	 * @param namespace the application
	 * @param headerName the header that carries keys
	 * @param scopeResolver tells whose key it is
	 */
	public RequestKeys(String namespace, String headerName, IdempotencyScopeResolver scopeResolver) {
		this.namespace = namespace;
		this.header = new KeyHeader(headerName);
		this.scopeResolver = scopeResolver;
	}

	/**
	 * Finds the key.
	 * @throws RefusedRequestException if the request lacks it or it is malformed
	 */
	IdempotencyKey resolve(IdempotentOperation operation, ReadRequest read, Fingerprint fingerprint) {
		HttpServletRequest request = read.request();
		RequestKeyExpression expression = operation.key();
		if (expression != null) {
			String value = expression.evaluate(request, read.body());
			if (value == null) {
				throw new RefusedRequestException(Problem.KEY_MISSING,
						"This operation derives its idempotency key from the request, and this request lacks what it needs.");
			}
			return key(IdempotencyKey.Kind.EXPRESSION, request, operation.terms().name(), value);
		}
		String value = (operation.from() != KeySource.FINGERPRINT) ? this.header.read(request) : null;
		if (value != null) {
			return key(IdempotencyKey.Kind.HEADER, request, "", value);
		}
		if (operation.from() == KeySource.HEADER) {
			throw this.header.missing();
		}
		return fingerprintKey(operation, this.scopeResolver.resolveScope(request), fingerprint);
	}

	/**
	 * Equal requests of two callers are one operation only if both are known to be one
	 * caller.
	 */
	private IdempotencyKey fingerprintKey(IdempotentOperation operation, String scope, Fingerprint fingerprint) {
		if (!scope.isEmpty()) {
			return IdempotencyKey.of(IdempotencyKey.Kind.FINGERPRINT, this.namespace, scope, operation.terms().name(),
					fingerprint.digest());
		}
		if (operation.from() == KeySource.HEADER_OR_FINGERPRINT) {
			throw this.header.missing();
		}
		throw new RefusedRequestException(Problem.CALLER_UNKNOWN,
				"Nothing was done: this operation takes its idempotency key from the fingerprint, and the caller is not known, "
						+ "so equal requests of two callers would be one. Let only authenticated callers use it, or "
						+ "declare a bean of type IdempotencyScopeResolver.");
	}

	private IdempotencyKey key(IdempotencyKey.Kind kind, HttpServletRequest request, String operation, String value) {
		return IdempotencyKey.of(kind, this.namespace, this.scopeResolver.resolveScope(request), operation, value);
	}

}
