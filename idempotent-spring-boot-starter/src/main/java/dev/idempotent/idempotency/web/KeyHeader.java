package dev.idempotent.idempotency.web;

import java.util.Enumeration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Reads the header that carries the key: an item of
 * <a href="https://www.rfc-editor.org/rfc/rfc8941#section-3.3">RFC 8941</a> that is a
 * string, whose parameters are ignored, or the same characters without quotes. A key has
 * 1 to 255 ASCII characters. An unquoted one has no space, and no comma: with one, it
 * could be two headers that a proxy has merged.
 */
final class KeyHeader {

	static final int MAX_LENGTH = 255;

	private static final String STRING = "\"((?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*+)\"";

	private static final String BARE_ITEM = STRING.replace("((", "(?:(")
			+ "|-?[0-9]{1,15}+(?:\\.[0-9]{1,3})?+|[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*+|:[A-Za-z0-9+/=]*+:|\\?[01]";

	private static final Pattern ITEM = Pattern
		.compile(STRING + "(?:; *+[a-z*][a-z0-9_.*-]*+(?:=(?:" + BARE_ITEM + "))?+)*+ *+");

	private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");

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
			throw Problem.KEY_MALFORMED.refusal("The header " + this.name + " was sent more than once. Send it once.");
		}
		return parse(value);
	}

	/**
	 * Parses a key.
	 * @throws RefusedRequestException if it is malformed
	 */
	String parse(String value) {
		boolean quoted = value.startsWith("\"");
		String key = quoted ? unquote(value) : value;
		if (key.isBlank() || key.length() > MAX_LENGTH || !(quoted || key.chars().allMatch(KeyHeader::isBare))) {
			throw malformed();
		}
		return key;
	}

	RefusedRequestException missing() {
		return Problem.KEY_MISSING.refusal("This operation needs the header " + this.name
				+ ". Send one unique value per operation, and the same value when you retry it.");
	}

	private String unquote(String value) {
		Matcher item = ITEM.matcher(value);
		if (!item.matches()) {
			throw malformed();
		}
		return ESCAPED.matcher(item.group(1)).replaceAll("$1");
	}

	private RefusedRequestException malformed() {
		return Problem.KEY_MALFORMED.refusal("The value of the header " + this.name + " must be 1 to " + MAX_LENGTH
				+ " ASCII characters: without quotes, spaces and commas, or as a quoted string."
				+ " Two headers that were merged into one have a comma between them.");
	}

	private static boolean isBare(int character) {
		return character > ' ' && character < 0x7f && character != ',';
	}

}
