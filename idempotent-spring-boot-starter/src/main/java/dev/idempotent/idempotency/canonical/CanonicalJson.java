package dev.idempotent.idempotency.canonical;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;

/**
 * The same text for all equivalent JSON documents: without white space, keys sorted, and
 * strings and numbers in one notation. Thread-safe.
 * <p>
 * The format is that of RFC 8785, but numbers keep their exact decimal value instead of
 * being rounded to doubles, and lone surrogates are escaped instead of rejected.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc8785">JSON Canonicalization Scheme</a>
 */
public final class CanonicalJson {

	private static final int MAX_DEPTH = 128;

	/**
	 * The length of a body is limited before, so that of its parts need not be. A table
	 * of names would keep those of hostile clients.
	 */
	private static final JsonFactory parsers = JsonFactory.builder()
		.streamReadConstraints(StreamReadConstraints.builder()
			.maxNestingDepth(MAX_DEPTH)
			.maxStringLength(Integer.MAX_VALUE)
			.maxNameLength(Integer.MAX_VALUE)
			.build())
		.disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
		.build();

	private static final char REPLACEMENT = '\ufffd';

	private static final int ESCAPE_LENGTH = "\\u0000".length();

	private static final String ESCAPED = "\"\\\b\f\n\r\t";

	private static final String ESCAPES = "\"\\bfnrt";

	private static final int MAX_PLAIN_LENGTH = 21;

	private static final BigInteger MIN_PLAIN_POWER = BigInteger.valueOf(-6);

	private static final BigInteger MAX_PLAIN_POWER = BigInteger.valueOf(20);

	private static final CanonicalJson WHOLE = new CanonicalJson(Set.of());

	private final List<JsonPointer> ignored;

	private CanonicalJson(Set<JsonPointer> ignored) {
		this.ignored = List.copyOf(ignored);
	}

	/**
	 * Returns the canonical form of documents without some of their members.
	 * @param ignored pointers to the members to omit; may be empty
	 * @return the form, which can be used for many documents
	 */
	public static CanonicalJson without(Set<JsonPointer> ignored) {
		return ignored.isEmpty() ? WHOLE : new CanonicalJson(ignored);
	}

	/**
	 * Returns the canonical form of a JSON document as a text.
	 * @param json any bytes
	 * @return the canonical form, or {@code null} as in {@link #encode(byte[])}
	 */
	public static @Nullable String of(byte[] json) {
		return WHOLE.canonical(json);
	}

	/**
	 * Returns the canonical form of a JSON document in UTF-8.
	 * @param json any bytes
	 * @return the canonical form, or {@code null} if there is none: the bytes are not
	 * exactly one valid document in UTF-8, an object has a duplicate key, or the nesting
	 * or the length of a number exceeds a limit
	 */
	public byte @Nullable [] encode(byte[] json) {
		String text = canonical(json);
		return (text != null) ? text.getBytes(StandardCharsets.UTF_8) : null;
	}

	private @Nullable String canonical(byte[] json) {
		String text = new String(json, StandardCharsets.UTF_8);
		if (!isUtf8(json, text) || hasBrokenEscape(text)) {
			return null;
		}
		try (JsonParser parser = parsers.createParser(ObjectReadContext.empty(), text)) {
			if (parser.nextToken() == null) {
				return null;
			}
			StringBuilder canonical = new StringBuilder(json.length);
			append(parser, this.ignored, canonical);
			return (parser.nextToken() == null) ? canonical.toString() : null;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

	/**
	 * A parser of bytes would guess another encoding, and accept broken UTF-8 in names.
	 */
	private static boolean isUtf8(byte[] json, String text) {
		return text.indexOf(REPLACEMENT) < 0 || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), json);
	}

	/**
	 * The parser would take a digit beyond ASCII for that of its lower byte.
	 */
	private static boolean hasBrokenEscape(String text) {
		for (int at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 2)) {
			String escape = text.substring(at + 1, Math.min(at + ESCAPE_LENGTH, text.length()));
			if (escape.startsWith("u") && escape.chars().anyMatch((digit) -> digit >= 0x80)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Appends the value that the parser is at.
	 */
	private static void append(JsonParser parser, List<JsonPointer> ignored, StringBuilder text) {
		switch (parser.currentToken()) {
			case START_OBJECT -> appendObject(parser, ignored, text);
			case START_ARRAY -> appendArray(parser, ignored, text);
			case VALUE_STRING -> appendQuoted(parser, text);
			case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> text.append(number(parser));
			default -> text.append(parser.getString());
		}
	}

	/**
	 * Appends an object, sorted by the UTF-16 code units of its names. Ignored members
	 * are omitted, but must be valid, too.
	 */
	private static void appendObject(JsonParser parser, List<JsonPointer> ignored, StringBuilder text) {
		SortedMap<String, int[]> places = new TreeMap<>();
		boolean sorted = true;
		int start = text.append('{').length();
		while (parser.nextToken() != JsonToken.END_OBJECT) {
			String name = parser.currentName();
			List<JsonPointer> below = below(ignored, (pointer) -> pointer.matchProperty(name));
			int begin = text.length();
			appendQuoted(parser, text);
			parser.nextToken();
			append(parser, below, text.append(':'));
			text.append(',');
			if (below.contains(JsonPointer.empty())) {
				text.setLength(begin);
			}
			sorted = sorted && (places.isEmpty() || places.lastKey().compareTo(name) < 0);
			if (places.put(name, new int[] { begin - start, text.length() - start }) != null) {
				throw new StreamReadException(parser, "Duplicate name");
			}
		}
		if (!sorted) {
			String unsorted = text.substring(start);
			text.setLength(start);
			places.values().forEach((place) -> text.append(unsorted, place[0], place[1]));
		}
		close(text, start, '}');
	}

	private static void appendArray(JsonParser parser, List<JsonPointer> ignored, StringBuilder text) {
		int start = text.append('[').length();
		for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
			int index = i;
			append(parser, below(ignored, (pointer) -> pointer.matchElement(index)), text);
			text.append(',');
		}
		close(text, start, ']');
	}

	/**
	 * Ends a list of values, each of which has a comma behind it.
	 */
	private static void close(StringBuilder text, int start, char end) {
		text.setLength(Math.max(start, text.length() - 1));
		text.append(end);
	}

	private static List<JsonPointer> below(List<JsonPointer> ignored,
			Function<JsonPointer, @Nullable JsonPointer> step) {
		return ignored.isEmpty() ? ignored : ignored.stream().map(step).filter(Objects::nonNull).toList();
	}

	/**
	 * Appends the name or string that the parser is at.
	 */
	private static void appendQuoted(JsonParser parser, StringBuilder text) {
		char[] value = parser.getStringCharacters();
		int start = parser.getStringOffset();
		int end = start + parser.getStringLength();
		int written = start;
		text.append('"');
		for (int i = start; i < end; i++) {
			char next = value[i];
			if (next < ' ' || next == '"' || next == '\\' || isLoneSurrogate(value, start, i, end)) {
				int letter = ESCAPED.indexOf(next);
				text.append(value, written, i - written)
					.append((letter < 0) ? "\\u" + HexFormat.of().toHexDigits(next) : "\\" + ESCAPES.charAt(letter));
				written = i + 1;
			}
		}
		text.append(value, written, end - written).append('"');
	}

	/**
	 * Returns whether a character has no encoding of its own.
	 */
	private static boolean isLoneSurrogate(char[] value, int start, int index, int end) {
		char next = value[index];
		if (Character.isHighSurrogate(next)) {
			return index + 1 == end || !Character.isLowSurrogate(value[index + 1]);
		}
		return Character.isLowSurrogate(next) && (index == start || !Character.isHighSurrogate(value[index - 1]));
	}

	/**
	 * Reads a number: its decimal value in the format of ECMAScript's
	 * {@code Number::toString}, but with all digits and any exponent. Works on the text:
	 * a large exponent is never expanded, and zeros are not divided off one by one, as by
	 * {@code BigDecimal}.
	 */
	private static String number(JsonParser parser) {
		String json = parser.getString();
		// Jackson itself limits only what it converts.
		parser.streamReadConstraints().validateFPLength(json.length());
		int mark = Math.max(json.indexOf('e'), json.indexOf('E'));
		String mantissa = (mark < 0) ? json : json.substring(0, mark);
		String sign = json.startsWith("-") ? "-" : "";
		int point = mantissa.indexOf('.');
		if (mark < 0 && json.length() <= MAX_PLAIN_LENGTH && isPlain(json, sign.length())) {
			return (point < 0) ? json
					: StringUtils.trimTrailingCharacter(StringUtils.trimTrailingCharacter(json, '0'), '.');
		}
		String all = mantissa.substring(sign.length()).replace(".", "");
		String significant = StringUtils.trimLeadingCharacter(all, '0');
		if (significant.isEmpty()) {
			return "0";
		}
		int integerDigits = ((point < 0) ? mantissa.length() : point) - sign.length();
		BigInteger power = ((mark < 0) ? BigInteger.ZERO : new BigInteger(json.substring(mark + 1)))
			.add(BigInteger.valueOf(integerDigits - (all.length() - significant.length()) - 1));
		return sign + decimal(StringUtils.trimTrailingCharacter(significant, '0'), power);
	}

	/**
	 * Returns whether a number without an exponent is at least 0.1.
	 */
	private static boolean isPlain(String json, int start) {
		return !json.startsWith("0", start) || (json.length() > start + 2 && json.charAt(start + 2) != '0');
	}

	/**
	 * Returns a decimal number.
	 * @param power the power of ten of the first digit
	 */
	private static String decimal(String digits, BigInteger power) {
		if (power.compareTo(MIN_PLAIN_POWER) < 0 || power.compareTo(MAX_PLAIN_POWER) > 0) {
			return digits.charAt(0) + ((digits.length() > 1) ? "." + digits.substring(1) : "")
					+ ((power.signum() > 0) ? "e+" : "e") + power;
		}
		int integerDigits = power.intValue() + 1;
		if (integerDigits <= 0) {
			return "0." + "0".repeat(-integerDigits) + digits;
		}
		return (digits.length() <= integerDigits) ? digits + "0".repeat(integerDigits - digits.length())
				: digits.substring(0, integerDigits) + "." + digits.substring(integerDigits);
	}

}
