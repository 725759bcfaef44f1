package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * Gives each principal a scope of its own. Without a principal the credentials in
 * {@code Authorization} tell callers apart; callers without either share one scope.
 */
public final class PrincipalScopeResolver implements IdempotencyScopeResolver {

	private final Function<Principal, @Nullable String> issuer;

	/**
	 * Creates a resolver.
	 * @param issuer tells who vouches for the name of a principal, {@code null} where
	 * nobody in particular does
	 */
	public PrincipalScopeResolver(Function<Principal, @Nullable String> issuer) {
		this.issuer = issuer;
	}

	@Override
	public String resolveScope(HttpServletRequest request) {
		Principal principal = request.getUserPrincipal();
		if (principal != null) {
			String issuer = this.issuer.apply(principal);
			return digest("principal", principal.getClass().getName(), (issuer != null) ? issuer : "",
					principal.getName());
		}
		String credentials = request.getHeader(HttpHeaders.AUTHORIZATION);
		return (credentials != null) ? digest("credentials", credentials) : "";
	}

	private static String digest(String... parts) {
		return Fingerprint.of(Stream.of(parts).map((part) -> part.getBytes(StandardCharsets.UTF_8)).toList()).digest();
	}

}
