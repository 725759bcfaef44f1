package dev.idempotent.idempotency.web;

import java.util.Enumeration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * The header that names the action that a request cancels: its key, and what the caller
 * knows of it, as in {@code "key"; outcome=done}. The key is written as in the key
 * header; one with a semicolon needs quotes.
 *
 * @param key the key of the action
 * @param done whether the caller knows that the action was done; without an outcome it
 * does not
 */
record CancelsHeader(String key, boolean done) {

	static final String NAME = "Idempotency-Cancels";

	/**
	 * A quoted key can have a backslash before each of its 255 characters.
	 */
	static final int MAX_LENGTH = 600;

	private static final Pattern VALUE = Pattern
		.compile("(\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|[^\";\\s]++)(?:\\s*+;\\s*+outcome=(done|unknown))?");

	private static final KeyHeader keyHeader = new KeyHeader(NAME);

	/**
	 * Reads the header.
	 * @throws RefusedRequestException if it was not sent, or sent twice, or is malformed
	 */
	static CancelsHeader read(HttpServletRequest request) {
		Enumeration<String> values = request.getHeaders(NAME);
		if (!values.hasMoreElements()) {
			throw Problem.KEY_MISSING.refusal("This operation cancels another one and needs the header " + NAME
					+ " with the idempotency key of that one. Nothing was done.");
		}
		Matcher parts = match(values.nextElement());
		if (parts == null || values.hasMoreElements()) {
			throw Problem.KEY_MALFORMED.refusal("The header " + NAME
					+ " must be sent once, with a key and what is known of its request, such as <key>; outcome=done or "
					+ "<key>; outcome=unknown. Nothing was done.");
		}
		return new CancelsHeader(keyHeader.parse(parts.group(1)), "done".equals(parts.group(2)));
	}

	private static @Nullable Matcher match(String value) {
		Matcher parts = VALUE.matcher(value.strip());
		return (value.length() <= MAX_LENGTH && parts.matches()) ? parts : null;
	}

}
