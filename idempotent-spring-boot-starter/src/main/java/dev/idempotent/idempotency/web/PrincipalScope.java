package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import org.jspecify.annotations.Nullable;

/**
 * The scope of the keys of a named principal, as {@link PrincipalScopeResolver} resolves
 * it.
 */
public final class PrincipalScope {

	private PrincipalScope() {
	}

	/**
	 * Returns the scope.
	 * @param issuer the issuer of the name, or {@code null}
	 * @param name the name of the principal
	 * @return a digest of both
	 */
	public static String of(@Nullable String issuer, String name) {
		return Fingerprint
			.of(Stream.of("principal", (issuer != null) ? issuer : "", name)
				.map((part) -> part.getBytes(StandardCharsets.UTF_8))
				.toList())
			.digest();
	}

}
