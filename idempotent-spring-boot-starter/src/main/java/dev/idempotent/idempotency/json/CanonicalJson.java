package dev.idempotent.idempotency.json;

import java.nio.charset.StandardCharsets;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;

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

	private static final CanonicalJson WHOLE = new CanonicalJson(Set.of());

	private final IgnoredMembers ignored;

	private CanonicalJson(Set<JsonPointer> ignored) {
		this.ignored = IgnoredMembers.of(ignored);
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
		byte[] canonical = WHOLE.encode(json);
		return (canonical != null) ? new String(canonical, StandardCharsets.UTF_8) : null;
	}

	/**
	 * Returns the canonical form of a JSON document in UTF-8.
	 * @param json any bytes
	 * @return the canonical form, or {@code null} if there is none: the bytes are not
	 * exactly one valid document in UTF-8, an object has a duplicate key, or the nesting
	 * or the length of a number exceeds a limit
	 */
	public byte @Nullable [] encode(byte[] json) {
		try {
			return new CanonicalEncoder(json).encode(this.ignored);
		}
		catch (NotCanonicalException ex) {
			return null;
		}
	}

}
