package dev.idempotent.idempotency.json;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * One spelling for each decimal value, in the layout of ECMAScript's
 * {@code Number::toString} but with all its digits and any exponent.
 */
final class CanonicalNumber {

	private static final BigInteger MIN_PLAIN_POWER = BigInteger.valueOf(-6);

	private static final BigInteger MAX_PLAIN_POWER = BigInteger.valueOf(20);

	private CanonicalNumber() {
	}

	/**
	 * Returns the canonical spelling of a JSON number. Costs time and memory by the
	 * length of the given text, never by the size of the exponent.
	 */
	static String of(String number) {
		int mark = Math.max(number.indexOf('e'), number.indexOf('E'));
		if (mark < 0) {
			return of(new BigDecimal(number), BigInteger.ZERO);
		}
		return of(new BigDecimal(number.substring(0, mark)), new BigInteger(number.substring(mark + 1)));
	}

	private static String of(BigDecimal mantissa, BigInteger exponent) {
		if (mantissa.signum() == 0) {
			return "0";
		}
		BigDecimal shortest = mantissa.stripTrailingZeros();
		int fractionDigits = shortest.precision() - 1;
		BigInteger power = exponent.add(BigInteger.valueOf(fractionDigits - shortest.scale()));
		if (power.compareTo(MIN_PLAIN_POWER) >= 0 && power.compareTo(MAX_PLAIN_POWER) <= 0) {
			return shortest.scaleByPowerOfTen(exponent.intValueExact()).toPlainString();
		}
		String coefficient = new BigDecimal(shortest.unscaledValue(), fractionDigits).toPlainString();
		return coefficient + ((power.signum() > 0) ? "e+" : "e") + power;
	}

}
