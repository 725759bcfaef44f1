package dev.idempotent.idempotency;

import java.util.function.Function;

/**
 * What identifies the values of a type that the library cannot compare by itself: a class
 * of a library that keeps caches, one whose state is hidden, or a persistent entity.
 * Declare a bean for each such type; it applies wherever a value of the type, or of a
 * subtype without a form of its own, is a key or an argument, or a member of one.
 *
 * @param <T> the type
 */
public interface CanonicalForm<T> {

	/**
	 * The type.
	 * @return the class or interface
	 */
	Class<T> type();

	/**
	 * Returns what identifies a value: equal for equal values and different for all
	 * others, in each process and in each release.
	 * @param value the value, never {@code null}
	 * @return text, a number, a list or a record of such, or any other value that the
	 * library compares; never {@code null}
	 */
	Object canonical(T value);

	/**
	 * Creates a form from a function.
	 * @param <T> the type
	 * @param type the type
	 * @param canonical returns what identifies a value, as {@link #canonical(Object)}
	 * does
	 * @return the form
	 */
	static <T> CanonicalForm<T> of(Class<T> type, Function<? super T, ?> canonical) {
		return new CanonicalForm<>() {

			@Override
			public Class<T> type() {
				return type;
			}

			@Override
			public Object canonical(T value) {
				return canonical.apply(value);
			}

		};
	}

}
