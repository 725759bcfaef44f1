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
 * Gives each principal a scope of its own: its name, within its issuer where there is
 * one. How it was authenticated does not count, as that may change from one attempt to
 * the next. Callers without a principal share the empty scope. A request whose principal
 * has no name, or whose credentials have not become a principal, is refused.
 */
public final class PrincipalScopeResolver implements IdempotencyScopeResolver {

	private final Function<Principal, @Nullable String> issuer;

	private final Supplier<@Nullable Principal> authenticated;

	/**
	 * Creates a resolver.
	 * @param issuer tells the issuer of a principal's name, {@code null} if it has none
	 * @param authenticated tells the caller of the current thread where the request does
	 * not, {@code null} if there is none
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
			// Its value differs between the attempts of one caller: refreshed tokens,
			// signatures.
			throw new RefusedRequestException(Problem.CALLER_UNKNOWN,
					"Nothing was done: the request has credentials (Authorization), but no filter has derived a principal from "
							+ "them, so its idempotency key belongs to no known caller. Authenticate callers in a filter, or "
							+ "declare a bean of type IdempotencyScopeResolver.");
		}
		return "";
	}

	private String scope(Principal principal) {
		String name = principal.getName();
		if (name == null || name.isBlank()) {
			throw new RefusedRequestException(Problem.CALLER_UNKNOWN,
					"Nothing was done: the principal of this request has no name, so its idempotency key belongs to no known "
							+ "caller. For a token without 'sub' name another claim "
							+ "(spring.security.oauth2.resourceserver.jwt.principal-claim-name), or declare a bean of type "
							+ "IdempotencyScopeResolver.");
		}
		String vouching = this.issuer.apply(principal);
		return digest("principal", (vouching != null) ? vouching : "", name);
	}

	private static String digest(String... parts) {
		return Fingerprint.of(Stream.of(parts).map((part) -> part.getBytes(StandardCharsets.UTF_8)).toList()).digest();
	}

}
