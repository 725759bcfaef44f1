package dev.idempotent.idempotency.web;

import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Idempotent;
import tools.jackson.core.JsonPointer;

/**
 * What is left out of a fingerprint.
 *
 * @param parameters names of query and form parameters
 * @param members members of a JSON body
 */
record FingerprintExclusions(Set<String> parameters, Set<JsonPointer> members) {

	static final FingerprintExclusions NOTHING = new FingerprintExclusions(Set.of(), Set.of());

	private static final FingerprintExclusions EVERYTHING = new FingerprintExclusions(Set.of(Idempotent.EVERYTHING),
			Set.of());

	/**
	 * Reads an annotation's entries.
	 * @throws IllegalArgumentException if one is blank or a pointer to the whole body, or
	 * if there are others beside the one for everything
	 */
	static FingerprintExclusions of(String[] entries) {
		if (Arrays.asList(entries).contains(Idempotent.EVERYTHING)) {
			if (entries.length > 1) {
				throw new IllegalArgumentException("'*' has to stand alone");
			}
			return EVERYTHING;
		}
		Predicate<String> isPointer = (entry) -> entry.startsWith("/");
		if (Arrays.stream(entries).anyMatch((entry) -> entry.isBlank() || entry.equals("/"))) {
			throw new IllegalArgumentException("it is blank or names nothing");
		}
		return new FingerprintExclusions(
				Arrays.stream(entries).filter(isPointer.negate()).collect(Collectors.toUnmodifiableSet()),
				Arrays.stream(entries)
					.filter(isPointer)
					.map(JsonPointer::compile)
					.collect(Collectors.toUnmodifiableSet()));
	}

	/**
	 * Tells whether the key alone decides.
	 */
	boolean isEverything() {
		return equals(EVERYTHING);
	}

}
