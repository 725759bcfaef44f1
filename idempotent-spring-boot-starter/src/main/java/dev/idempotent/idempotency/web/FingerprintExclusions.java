package dev.idempotent.idempotency.web;

import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.json.CanonicalJson;
import tools.jackson.core.JsonPointer;

/**
 * The parts of a request that are not in its fingerprint.
 *
 * @param parameters names of query and form parameters
 * @param json the canonical form of a JSON body without the excluded members
 */
record FingerprintExclusions(Set<String> parameters, CanonicalJson json) {

	static final FingerprintExclusions NOTHING = new FingerprintExclusions(Set.of(), CanonicalJson.without(Set.of()));

	private static final FingerprintExclusions EVERYTHING = new FingerprintExclusions(Set.of(Idempotent.EVERYTHING),
			CanonicalJson.without(Set.of()));

	/**
	 * Parses the entries of an annotation.
	 * @throws IllegalArgumentException if one is blank or a pointer to the whole body, or
	 * if there are others beside {@code *}
	 */
	static FingerprintExclusions of(String[] entries) {
		if (Arrays.asList(entries).contains(Idempotent.EVERYTHING)) {
			if (entries.length > 1) {
				throw new IllegalArgumentException("'*' must be the only entry");
			}
			return EVERYTHING;
		}
		Predicate<String> isPointer = (entry) -> entry.startsWith("/");
		if (Arrays.stream(entries).anyMatch((entry) -> entry.isBlank() || entry.equals("/"))) {
			throw new IllegalArgumentException("an entry is blank or has no name");
		}
		return new FingerprintExclusions(
				Arrays.stream(entries).filter(isPointer.negate()).collect(Collectors.toUnmodifiableSet()),
				CanonicalJson.without(Arrays.stream(entries)
					.filter(isPointer)
					.map(JsonPointer::compile)
					.collect(Collectors.toUnmodifiableSet())));
	}

	/**
	 * Adds a parameter.
	 */
	FingerprintExclusions and(String parameter) {
		return isEverything() ? this : new FingerprintExclusions(
				Stream.concat(this.parameters.stream(), Stream.of(parameter)).collect(Collectors.toUnmodifiableSet()),
				this.json);
	}

	/**
	 * Returns whether requests with the same key are always the same.
	 */
	boolean isEverything() {
		return this.parameters.contains(Idempotent.EVERYTHING);
	}

}
