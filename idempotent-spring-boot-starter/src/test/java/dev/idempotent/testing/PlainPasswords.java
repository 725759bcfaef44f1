package dev.idempotent.testing;

import org.jspecify.annotations.Nullable;

import org.springframework.security.crypto.password.PasswordEncoder;

/**
 * Keeps passwords as they are. Without it, the first login of a user replaces a
 * {@code {noop}} password by one of BCrypt, and each login takes as long as the start of
 * a small application.
 */
public final class PlainPasswords implements PasswordEncoder {

	@Override
	public @Nullable String encode(@Nullable CharSequence password) {
		return (password != null) ? password.toString() : null;
	}

	@Override
	public boolean matches(@Nullable CharSequence password, @Nullable String encoded) {
		return password != null && password.toString().equals(encoded);
	}

}
