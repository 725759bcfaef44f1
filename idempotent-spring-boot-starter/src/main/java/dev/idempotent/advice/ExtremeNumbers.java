package dev.idempotent.advice;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Finds numbers that are short to write and long to reckon with: adding 1 to
 * {@code 1e10000000} makes ten million digits.
 */
public final class ExtremeNumbers {

	/**
	 * The most digits before or after the decimal point that are not in the number as it
	 * was written. All of type {@code double} have fewer.
	 */
	public static final int MAX_SCALE = 1_000;

	private ExtremeNumbers() {
	}

	/**
	 * Tells whether there is such a number.
	 * @param value a number, or maps, collections and arrays of them; anything else holds
	 * none
	 * @return whether the value is one, or has one in it
	 */
	public static boolean in(@Nullable Object value) {
		if (value instanceof BigDecimal number) {
			return Math.abs((long) number.scale()) > MAX_SCALE;
		}
		if (value instanceof Map<?, ?> map) {
			return map.values().stream().anyMatch(ExtremeNumbers::in);
		}
		if (value instanceof Collection<?> collection) {
			return collection.stream().anyMatch(ExtremeNumbers::in);
		}
		return value instanceof Object[] array && Arrays.stream(array).anyMatch(ExtremeNumbers::in);
	}

}
