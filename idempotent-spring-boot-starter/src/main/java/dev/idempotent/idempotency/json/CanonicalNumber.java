package dev.idempotent.idempotency.json;

import java.math.BigInteger;

/**
 * One notation for each decimal value, in the format of ECMAScript's
 * {@code Number::toString} but with all digits and any exponent.
 */
final class CanonicalNumber {

	private static final BigInteger MIN_PLAIN_POWER = BigInteger.valueOf(-6);

	private static final BigInteger MAX_PLAIN_POWER = BigInteger.valueOf(20);

	private CanonicalNumber() {
	}

	/**
	 * Returns the canonical notation of a JSON number. Works on the digits of the text,
	 * so time and memory depend on their count, never on the size of the exponent.
	 */
	static String of(String number) {
		int start = number.startsWith("-") ? 1 : 0;
		int mark = Math.max(number.indexOf('e'), number.indexOf('E'));
		int end = (mark < 0) ? number.length() : mark;
		int point = number.indexOf('.');
		int integerEnd = (point < 0) ? end : point;
		String digits = number.substring(start, integerEnd) + ((point < 0) ? "" : number.substring(point + 1, end));
		int first = 0;
		while (first < digits.length() && digits.charAt(first) == '0') {
			first++;
		}
		if (first == digits.length()) {
			return "0";
		}
		BigInteger exponent = (mark < 0) ? BigInteger.ZERO : new BigInteger(number.substring(mark + 1));
		BigInteger power = exponent.add(BigInteger.valueOf(integerEnd - start - 1 - first));
		return ((start > 0) ? "-" : "") + format(withoutTrailingZeros(digits.substring(first)), power);
	}

	private static String withoutTrailingZeros(String digits) {
		int end = digits.length();
		while (digits.charAt(end - 1) == '0') {
			end--;
		}
		return digits.substring(0, end);
	}

	/**
	 * Formats significant digits, of which the first has the given power of ten.
	 */
	private static String format(String digits, BigInteger power) {
		if (power.compareTo(MIN_PLAIN_POWER) < 0 || power.compareTo(MAX_PLAIN_POWER) > 0) {
			return pointed(digits, 1) + ((power.signum() > 0) ? "e+" : "e") + power;
		}
		int integerDigits = power.intValue() + 1;
		return (integerDigits <= 0) ? "0." + "0".repeat(-integerDigits) + digits
				: pointed(digits + "0".repeat(Math.max(0, integerDigits - digits.length())), integerDigits);
	}

	private static String pointed(String digits, int point) {
		return (digits.length() == point) ? digits : digits.substring(0, point) + "." + digits.substring(point);
	}

}
