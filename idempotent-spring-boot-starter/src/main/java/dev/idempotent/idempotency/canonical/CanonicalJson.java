package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonFactoryBuilder;

/**
 * The same text for all equivalent JSON documents: without white space, keys sorted, and
 * strings and numbers in one notation. Thread-safe.
 * <p>
 * The format is defined by RFC 8785, but numbers keep their exact decimal value instead
 * of being rounded to doubles, and lone surrogates are escaped instead of rejected.
 * <p>
 * A change of the format needs a new version of fingerprints, and changes the keys of
 * expressions and sagas: the calls of completed keys would run again.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc8785">JSON Canonicalization Scheme</a>
 */
public final class CanonicalJson {

	private static final int MAX_DEPTH = 128;

	/**
	 * Longer names are not kept in the table of names: hostile clients could fill it.
	 */
	private static final int MAX_KEPT_NAME_LENGTH = 64;

	/**
	 * Has a table of limited size with the names that were read before.
	 */
	private static final JsonFactory ofBytes = parsers(MAX_KEPT_NAME_LENGTH)
		.disable(TokenStreamFactory.Feature.INTERN_PROPERTY_NAMES)
		.build();

	private static final JsonFactory ofText = parsers(Integer.MAX_VALUE)
		.disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
		.build();

	private static final char REPLACEMENT = '\ufffd';

	private static final int ESCAPE_LENGTH = "\\u0000".length();

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
		byte[] form = WHOLE.encode(json);
		return (form != null) ? new String(form, StandardCharsets.UTF_8) : null;
	}

	/**
	 * Returns the canonical form of a JSON document in UTF-8.
	 * @param json any bytes
	 * @return the canonical form, or {@code null} if there is none: the bytes are not
	 * exactly one valid document in UTF-8, an object has a duplicate key, or the nesting
	 * or the length of a number exceeds a limit
	 */
	public byte @Nullable [] encode(byte[] json) {
		byte[] form = isPlainUtf8(json) ? read(() -> ofBytes.createParser(ObjectReadContext.empty(), json), json.length)
				: null;
		return (form != null) ? form : encodeText(json);
	}

	/**
	 * Handles all documents that the parser of bytes may not read, or has refused.
	 */
	private byte @Nullable [] encodeText(byte[] json) {
		String text = new String(json, StandardCharsets.UTF_8);
		return (isUtf8(json, text) && !hasBrokenEscape(text))
				? read(() -> ofText.createParser(ObjectReadContext.empty(), text), json.length) : null;
	}

	private byte @Nullable [] read(Supplier<JsonParser> opened, int length) {
		try (JsonParser parser = opened.get()) {
			if (parser.nextToken() == null) {
				return null;
			}
			CanonicalJsonWriter writer = new CanonicalJsonWriter(parser, length);
			writer.writeValue(this.ignored);
			return (parser.nextToken() == null) ? writer.toBytes() : null;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

	/**
	 * Returns whether the bytes are well-formed UTF-8 as in table 3-7 of the Unicode
	 * Standard, without a byte order mark and without zeros. A parser of bytes would
	 * guess another encoding from these, and accept broken characters in names.
	 */
	private static boolean isPlainUtf8(byte[] json) {
		if (json.length > 0 && json[0] == (byte) 0xef) {
			return false;
		}
		int at = 0;
		while (at < json.length) {
			int first = json[at++];
			if (first <= 0) {
				int more = (first == 0) ? -1 : continuations(json, at, first & 0xff);
				if (more < 0) {
					return false;
				}
				at += more;
			}
		}
		return true;
	}

	/**
	 * Returns how many bytes follow the first one of a character, or -1 if they do not.
	 */
	private static int continuations(byte[] json, int at, int first) {
		int more = (first < 0xe0) ? 1 : (first < 0xf0) ? 2 : 3;
		if (first < 0xc2 || first > 0xf4 || json.length - at < more) {
			return -1;
		}
		int least = (first == 0xe0) ? 0xa0 : (first == 0xf0) ? 0x90 : 0x80;
		int most = (first == 0xed) ? 0x9f : (first == 0xf4) ? 0x8f : 0xbf;
		int second = json[at] & 0xff;
		boolean formed = second >= least && second <= most;
		for (int i = 1; i < more; i++) {
			formed = formed && (json[at + i] & 0xc0) == 0x80;
		}
		return formed ? more : -1;
	}

	private static JsonFactoryBuilder parsers(int maxNameLength) {
		// The length of the body is limited before. Its parts need no limits.
		return JsonFactory.builder()
			.streamReadConstraints(StreamReadConstraints.builder()
				.maxNestingDepth(MAX_DEPTH)
				.maxStringLength(Integer.MAX_VALUE)
				.maxNameLength(maxNameLength)
				.build());
	}

	private static boolean isUtf8(byte[] json, String text) {
		return text.indexOf(REPLACEMENT) < 0 || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), json);
	}

	/**
	 * The parser would read only the lower byte of a digit beyond ASCII.
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

}
