package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * Resolves the scope from the principal: its name and its issuer, if any, but not how it
 * was authenticated, which may differ between attempts. Callers without a principal share
 * the empty scope. A principal without a name, or credentials without a principal, are
 * refused.
 */
public final class PrincipalScopeResolver implements IdempotencyScopeResolver {

	private final Function<Principal, @Nullable String> issuer;

	private final Supplier<@Nullable Principal> authenticated;

	/**
	 * Creates a resolver.
	 * @param issuer returns the issuer of a principal's name, or {@code null}; throws an
	 * {@link IllegalArgumentException} if the name does not identify the caller
	 * @param authenticated returns the caller of the current thread, or {@code null};
	 * used if the request has no principal
	 */
	public PrincipalScopeResolver(Function<Principal, @Nullable String> issuer,
			Supplier<@Nullable Principal> authenticated) {
		this.issuer = issuer;
		this.authenticated = authenticated;
	}

	@Override
	public String resolveScope(HttpServletRequest request) {
		Principal principal = request.getUserPrincipal();
		if (principal == null) {
			principal = this.authenticated.get();
		}
		if (principal != null) {
			return scope(principal);
		}
		if (request.getHeader(HttpHeaders.AUTHORIZATION) != null) {
			// The header does not identify the caller: refreshed tokens and signatures
			// differ between attempts.
			throw Problem.CALLER_UNKNOWN
				.refusal("Nothing was done: the request has credentials (Authorization), but no filter has derived a "
						+ "principal from them, so the caller of its idempotency key is unknown. Authenticate callers "
						+ "in a filter, or declare a bean of type IdempotencyScopeResolver.");
		}
		return "";
	}

	private String scope(Principal principal) {
		String name = principal.getName();
		if (name == null || name.isBlank()) {
			throw Problem.CALLER_UNKNOWN
				.refusal("Nothing was done: the principal of this request has no name, so the caller of its "
						+ "idempotency key is unknown. For a token without 'sub', configure another claim "
						+ "(spring.security.oauth2.resourceserver.jwt.principal-claim-name), or declare a bean of type "
						+ "IdempotencyScopeResolver.");
		}
		try {
			return scopeOf(this.issuer.apply(principal), name);
		}
		catch (IllegalArgumentException ex) {
			throw Problem.CALLER_UNKNOWN
				.refusal("Nothing was done: the caller of the idempotency key is unknown. " + ex.getMessage());
		}
	}

	/**
	 * Returns the scope of the keys of a named principal.
	 * @param issuer the issuer of the name, or {@code null}
	 * @param name the name of the principal
	 * @return a digest of both
	 */
	public static String scopeOf(@Nullable String issuer, String name) {
		return Fingerprint
			.of(Stream.of("principal", (issuer != null) ? issuer : "", name)
				.map((part) -> part.getBytes(StandardCharsets.UTF_8))
				.toList())
			.digest();
	}

}
