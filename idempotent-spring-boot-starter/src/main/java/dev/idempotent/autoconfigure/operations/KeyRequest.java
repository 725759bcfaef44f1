package dev.idempotent.autoconfigure.operations;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyKey.Kind;
import dev.idempotent.idempotency.operation.KeyExpression;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;

/**
 * The description of a key in a request to the actuator's endpoint {@code idempotency}.
 *
 * @param kind the origin of the key
 * @param scope the scope that a resolver of the application has returned
 * @param principal the name of the caller, instead of a scope
 * @param issuer the issuer of that name
 * @param operation the name of the operation; none for a key from a header
 * @param key the key, as the client has sent it, or as the application has derived or
 * issued it
 */
record KeyRequest(@Nullable String kind, @Nullable String scope, @Nullable String principal, @Nullable String issuer,
		@Nullable String operation, @Nullable String key) {

	/**
	 * Steps are found by the digest in the log: only their run has their key. Sagas have
	 * an endpoint of their own.
	 */
	private static final List<Kind> KINDS = Arrays.stream(Kind.values())
		.filter((kind) -> kind != Kind.STEP && kind != Kind.SAGA)
		.toList();

	/**
	 * Digests the key.
	 * @throws RefusedOperationException if it is ambiguous or incomplete
	 */
	IdempotencyKey digested(String namespace) {
		Kind origin = origin();
		if (this.key == null || this.key.isEmpty()) {
			throw RefusedOperationException.invalid("The request has no 'key'",
					"Set 'key' to the key of the request or of the method");
		}
		if (origin == Kind.HEADER && this.key.startsWith("\"")) {
			throw RefusedOperationException.invalid("The key is in quotes",
					"Set 'key' to the value of the header without its quotes");
		}
		return IdempotencyKey.of(origin, namespace, owner(origin), operation(origin),
				(origin == Kind.TOKEN) ? serialOf(this.key) : this.key);
	}

	/**
	 * A token that is looked up may have expired, or belong to another secret by now.
	 */
	private static String serialOf(String token) {
		String serial = OneTimeTokens.serialOf(token);
		if (serial == null) {
			throw RefusedOperationException.invalid("The key is not a one-time token",
					"Set 'key' to the token as the page contains it");
		}
		return serial;
	}

	/**
	 * Returns this request with the key as the text of a JSON string, which is how an
	 * expression yields a text.
	 * @return {@code null} if the key comes from no expression
	 */
	@Nullable KeyRequest asText() {
		Kind origin = origin();
		if ((origin != Kind.EXPRESSION && origin != Kind.METHOD) || this.key == null) {
			return null;
		}
		return new KeyRequest(this.kind, this.scope, this.principal, this.issuer, this.operation,
				KeyExpression.textOf(this.key));
	}

	private Kind origin() {
		String stated = (this.kind != null) ? this.kind.toUpperCase(Locale.ROOT) : Kind.HEADER.name();
		return KINDS.stream()
			.filter((one) -> one.name().equals(stated))
			.findFirst()
			.orElseThrow(() -> RefusedOperationException.invalid("There is no such 'kind' of keys",
					"Set 'kind' to one of " + KINDS.stream().map(Kind::name).collect(Collectors.joining(", "))
							+ "; it is HEADER if omitted"));
	}

	private String operation(Kind origin) {
		String stated = (this.operation != null) ? this.operation : "";
		if (origin == Kind.HEADER && !stated.isEmpty()) {
			throw RefusedOperationException.invalid("A key from a header belongs to no 'operation'",
					"Omit 'operation', or set another 'kind'");
		}
		if (origin != Kind.HEADER && stated.isEmpty()) {
			throw RefusedOperationException.invalid("The request has no 'operation'",
					"Set 'operation' to the name of the operation (the attribute 'name' of @Idempotent, else its class, "
							+ "method and parameter types)");
		}
		return stated;
	}

	private String owner(Kind origin) {
		boolean named = this.principal != null || this.issuer != null;
		if ((origin == Kind.METHOD || origin == Kind.TOKEN) && (named || this.scope != null)) {
			throw RefusedOperationException.invalid("A key of this kind has no scope",
					"Omit 'scope', 'principal' and 'issuer'");
		}
		if (named && this.scope != null) {
			throw RefusedOperationException.invalid("The request has both a 'scope' and a 'principal'",
					"Set 'principal' with the default IdempotencyScopeResolver, and 'scope' with one of the application");
		}
		if (!named) {
			return (this.scope != null) ? this.scope : "";
		}
		if (this.principal == null || this.principal.isEmpty()) {
			throw RefusedOperationException.invalid("The request has an 'issuer' without a 'principal'",
					"Set 'principal' to the name of the caller, or omit 'issuer'");
		}
		return PrincipalScopeResolver.scopeOf(this.issuer, this.principal);
	}

}
