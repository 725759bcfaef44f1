package dev.idempotent.idempotency.web;

import java.util.regex.Pattern;

/**
 * The syntax of the names of headers: a token in RFC 9110.
 */
final class HeaderNames {

	private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

	private HeaderNames() {
	}

	static boolean isValid(String name) {
		return TOKEN.matcher(name).matches();
	}

}
