package dev.idempotent.idempotency.web;

import java.util.Enumeration;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Reads the header that carries the key: a string of
 * <a href="https://www.rfc-editor.org/rfc/rfc8941#section-3.3.3">RFC 8941</a> or the same
 * characters without quotes, 1 to 255 visible ASCII characters. An unquoted key has no
 * comma: with one, it could be two headers that a proxy has merged.
 */
final class KeyHeader {

	static final int MAX_LENGTH = 255;

	private final String name;

	KeyHeader(String name) {
		this.name = name;
	}

	String name() {
		return this.name;
	}

	/**
	 * Reads the key, which is the same with and without quotes.
	 * @return the key, or {@code null} if the header was not sent
	 * @throws RefusedRequestException if it was sent twice or is malformed
	 */
	@Nullable String read(HttpServletRequest request) {
		Enumeration<String> values = request.getHeaders(this.name);
		if (!values.hasMoreElements()) {
			return null;
		}
		String value = values.nextElement();
		if (values.hasMoreElements()) {
			throw new RefusedRequestException(Problem.KEY_MALFORMED,
					"The header " + this.name + " was sent more than once. Send it once.");
		}
		return parse(value);
	}

	/**
	 * Parses a key.
	 * @throws RefusedRequestException if it is malformed
	 */
	String parse(String value) {
		String key = value.startsWith("\"") ? unquote(value) : bare(value);
		if (key.isEmpty() || key.length() > MAX_LENGTH || !key.chars().allMatch(KeyHeader::isVisibleAscii)) {
			throw malformed();
		}
		return key;
	}

	RefusedRequestException missing() {
		return new RefusedRequestException(Problem.KEY_MISSING, "This operation needs the header " + this.name
				+ ". Send one unique value per operation, and the same value when you retry it.");
	}

	private String bare(String value) {
		if (value.indexOf(',') >= 0) {
			throw malformed();
		}
		return value;
	}

	private String unquote(String value) {
		StringBuilder key = new StringBuilder(value.length());
		int last = value.length() - 1;
		int i = 1;
		for (; i < last && value.charAt(i) != '"'; i++) {
			if (value.charAt(i) == '\\') {
				i++;
				if (i == last || (value.charAt(i) != '"' && value.charAt(i) != '\\')) {
					throw malformed();
				}
			}
			key.append(value.charAt(i));
		}
		if (i != last || value.charAt(last) != '"') {
			throw malformed();
		}
		return key.toString();
	}

	private RefusedRequestException malformed() {
		return new RefusedRequestException(Problem.KEY_MALFORMED,
				"The value of the header " + this.name + " must be 1 to " + MAX_LENGTH
						+ " visible ASCII characters: without quotes and without a comma, or as a quoted string."
						+ " Two headers that were merged into one have a comma between them.");
	}

	private static boolean isVisibleAscii(int character) {
		return character > ' ' && character < 0x7f;
	}

}
