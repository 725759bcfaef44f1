package dev.idempotent.autoconfigure.operations;

import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parameters of requests to the endpoints for operators. Invalid ones are
 * refused with {@link RefusedOperationException}, whose message has no value of the
 * request.
 */
final class OperatorParameters {

	private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

	private static final int DEFAULT_LIMIT = 50;

	private static final int MAX_LIMIT = 500;

	private OperatorParameters() {
	}

	/**
	 * Reads a digest from the path.
	 * @param of what it is the digest or id of
	 * @param action where to take it from
	 */
	static IdempotencyKey digest(String digest, String of, String action) {
		if (!DIGEST.matcher(digest).matches()) {
			throw RefusedOperationException.invalid("The path has no " + of + ": 64 lower-case hexadecimal digits",
					action);
		}
		return new IdempotencyKey(digest);
	}

	/**
	 * Refuses an empty value, which may be the result of an unset variable, and one that
	 * PostgreSQL does not compare.
	 */
	static @Nullable String stated(String name, @Nullable String value) {
		if (value != null && value.isBlank()) {
			throw RefusedOperationException.invalid("The parameter '" + name + "' is empty", "Set it or omit it");
		}
		if (value != null && value.indexOf('\0') >= 0) {
			throw RefusedOperationException.invalid("The parameter '" + name + "' contains the character NUL",
					"Remove it from the value");
		}
		return value;
	}

	/**
	 * Reads the size of a page.
	 */
	static int limit(@Nullable String limit) {
		return (int) number("limit", limit, DEFAULT_LIMIT, 1, MAX_LIMIT);
	}

	static long number(String name, @Nullable String value, long ifMissing, long min, long max) {
		try {
			long number = (value != null) ? Long.parseLong(value) : ifMissing;
			if (number >= min && number <= max) {
				return number;
			}
		}
		catch (NumberFormatException ex) {
			// Reported below.
		}
		throw RefusedOperationException.invalid("The parameter '" + name + "' is not a valid number",
				"Specify a number of at least " + min + ((max < Long.MAX_VALUE) ? " and at most " + max : ""));
	}

}
