package dev.idempotent.idempotency.json;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * The same text for all equivalent JSON documents: without white space, keys sorted, and
 * strings and numbers in one notation.
 * <p>
 * The format is that of RFC 8785, but numbers keep their exact decimal value instead of
 * being rounded to doubles, and lone surrogates are escaped instead of rejected.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc8785">JSON Canonicalization Scheme</a>
 */
public final class CanonicalJson {

	private static final int MAX_DEPTH = 128;

	private static final JsonFactory FACTORY = JsonFactory.builder()
		// A name can be as long as any string: the size of the document limits both.
		.streamReadConstraints(StreamReadConstraints.builder()
			.maxNestingDepth(MAX_DEPTH)
			.maxNameLength(StreamReadConstraints.DEFAULT_MAX_STRING_LEN)
			.build())
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		// Names with colliding hashes break the shared symbol table for later documents.
		.disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
		.build();

	private CanonicalJson() {
	}

	/**
	 * Returns the canonical form of a JSON document in UTF-8.
	 * @param json any bytes
	 * @return the canonical form, or {@code null} if there is none: the bytes are not
	 * exactly one valid document, an object has a duplicate key, or the nesting or the
	 * length of a number exceeds a limit
	 */
	public static @Nullable String of(byte[] json) {
		return of(json, Set.of());
	}

	/**
	 * Returns the canonical form of a JSON document without some of its members.
	 * @param json any bytes
	 * @param ignored pointers to the members to omit
	 * @return the canonical form, or {@code null} as in {@link #of(byte[])}
	 */
	public static @Nullable String of(byte[] json, Set<JsonPointer> ignored) {
		try {
			CharBuffer chars = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json));
			try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), chars.array(), chars.arrayOffset(),
					chars.length())) {
				return onlyValue(parser, ignored);
			}
		}
		catch (CharacterCodingException | JacksonException ex) {
			return null;
		}
	}

	private static @Nullable String onlyValue(JsonParser parser, Set<JsonPointer> ignored) {
		CanonicalText text = new CanonicalText();
		IgnoredMembers ignoredMembers = new IgnoredMembers(ignored);
		while (parser.nextToken() != null) {
			if (ignoredMembers.begins(parser)) {
				parser.nextToken();
				parser.skipChildren();
				continue;
			}
			text.append(parser);
			if (parser.streamReadContext().inRoot()) {
				return (parser.nextToken() == null) ? text.toString() : null;
			}
		}
		return null;
	}

}
