package dev.idempotent.idempotency.web;

import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import tools.jackson.core.JsonPointer;

/**
 * What is left out of a fingerprint.
 *
 * @param parameters names of query and form parameters
 * @param members members of a JSON body
 */
record Ignored(Set<String> parameters, Set<JsonPointer> members) {

	static final Ignored NOTHING = new Ignored(Set.of(), Set.of());

	/**
	 * Reads an annotation's entries.
	 * @throws IllegalArgumentException if one is blank or a pointer to the whole body
	 */
	static Ignored of(String[] entries) {
		Predicate<String> isPointer = (entry) -> entry.startsWith("/");
		if (Arrays.stream(entries).anyMatch((entry) -> entry.isBlank() || entry.equals("/"))) {
			throw new IllegalArgumentException("it is blank or names nothing");
		}
		return new Ignored(Arrays.stream(entries).filter(isPointer.negate()).collect(Collectors.toUnmodifiableSet()),
				Arrays.stream(entries)
					.filter(isPointer)
					.map(JsonPointer::compile)
					.collect(Collectors.toUnmodifiableSet()));
	}

}
