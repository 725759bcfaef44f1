package dev.idempotent.idempotency.json;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

import tools.jackson.core.StreamReadConstraints;

/**
 * Reads numbers and writes one notation for each decimal value, in the format of
 * ECMAScript's {@code Number::toString} but with all digits and any exponent. Works on
 * the digits of the text, so time and memory depend on their count, never on the size of
 * the exponent.
 */
final class CanonicalNumber {

	private static final int MAX_DIGITS = StreamReadConstraints.DEFAULT_MAX_NUM_LEN;

	private static final int MIN_PLAIN_POWER = -6;

	private static final int MAX_PLAIN_POWER = 20;

	private static final int MAX_LONG_DIGITS = 17;

	private final byte[] json;

	private final CanonicalText text;

	CanonicalNumber(byte[] json, CanonicalText text) {
		this.json = json;
		this.text = text;
	}

	/**
	 * Appends a number.
	 * @param start where it begins
	 * @return where it ends
	 * @throws NotCanonicalException if it is invalid or has more than 1,000 digits
	 */
	int append(int start) {
		int first = (byteAt(start) == '-') ? start + 1 : start;
		int point = digitsEnd(first);
		if (this.json[first] == '0' && point > first + 1) {
			throw new NotCanonicalException();
		}
		int mantissaEnd = (byteAt(point) == '.') ? digitsEnd(point + 1) : point;
		int mark = byteAt(mantissaEnd);
		int end = (mark == 'e' || mark == 'E') ? digitsEnd(exponent(mantissaEnd)) : mantissaEnd;
		if (end - first > MAX_DIGITS && countDigits(first, end) > MAX_DIGITS) {
			throw new NotCanonicalException();
		}
		if (this.json[first] != '0' && end == mantissaEnd && point - first <= MAX_PLAIN_POWER + 1) {
			this.text.append(this.json, start, fractionEnd(point, end));
		}
		else {
			appendMantissa(start, first, point, mantissaEnd, end);
		}
		return end;
	}

	private int exponent(int mark) {
		int next = byteAt(mark + 1);
		return (next == '+' || next == '-') ? mark + 2 : mark + 1;
	}

	private int digitsEnd(int start) {
		int end = start;
		while (isDigit(byteAt(end))) {
			end++;
		}
		if (end == start) {
			throw new NotCanonicalException();
		}
		return end;
	}

	/**
	 * Returns where a fraction ends without its zeros, or its point if it is zero.
	 */
	private int fractionEnd(int point, int end) {
		int last = end - 1;
		while (last > point && this.json[last] == '0') {
			last--;
		}
		return (last > point) ? last + 1 : point;
	}

	private int countDigits(int start, int end) {
		int count = 0;
		for (int i = start; i < end; i++) {
			count += isDigit(this.json[i]) ? 1 : 0;
		}
		return count;
	}

	private void appendMantissa(int start, int first, int point, int mantissaEnd, int end) {
		int from = first;
		while (from < mantissaEnd && (this.json[from] == '0' || this.json[from] == '.')) {
			from++;
		}
		if (from == mantissaEnd) {
			this.text.append('0');
			return;
		}
		int to = mantissaEnd;
		while (this.json[to - 1] == '0' || this.json[to - 1] == '.') {
			to--;
		}
		if (first > start) {
			this.text.append('-');
		}
		// The power of ten of the first digit.
		int power = (from < point) ? point - from - 1 : point - from;
		if (end == mantissaEnd) {
			append(from, to, power);
		}
		else {
			append(from, to, power, exponent(mantissaEnd), end);
		}
	}

	private void append(int from, int to, int power, int exponentStart, int end) {
		String exponent = new String(this.json, exponentStart, end - exponentStart, StandardCharsets.US_ASCII);
		boolean negative = this.json[exponentStart - 1] == '-';
		if (exponent.length() <= MAX_LONG_DIGITS) {
			long value = Long.parseLong(exponent);
			append(from, to, power + (negative ? -value : value));
		}
		else {
			BigInteger value = new BigInteger(exponent);
			BigInteger sum = (negative ? value.negate() : value).add(BigInteger.valueOf(power));
			if (sum.bitLength() < Long.SIZE) {
				append(from, to, sum.longValue());
			}
			else {
				appendScientific(from, to, sum.signum() > 0, sum.toString());
			}
		}
	}

	/**
	 * Appends significant digits, of which the first has the given power of ten.
	 */
	private void append(int from, int to, long power) {
		if (power < MIN_PLAIN_POWER || power > MAX_PLAIN_POWER) {
			appendScientific(from, to, power > 0, Long.toString(power));
		}
		else if (power < 0) {
			this.text.append("0.");
			appendZeros((int) -power - 1);
			appendDigits(from, to, -1);
		}
		else {
			int integerDigits = (int) power + 1;
			appendZeros(integerDigits - appendDigits(from, to, integerDigits));
		}
	}

	private void appendScientific(int from, int to, boolean large, String power) {
		appendDigits(from, to, 1);
		this.text.append(large ? "e+" : "e");
		this.text.append(power);
	}

	/**
	 * Appends digits with a point after so many of them, unless it would be the end.
	 * @return the number of digits
	 */
	private int appendDigits(int from, int to, int point) {
		int count = 0;
		for (int i = from; i < to; i++) {
			if (this.json[i] != '.') {
				if (count++ == point) {
					this.text.append('.');
				}
				this.text.append(this.json[i]);
			}
		}
		return count;
	}

	private void appendZeros(int count) {
		for (int i = 0; i < count; i++) {
			this.text.append('0');
		}
	}

	private int byteAt(int index) {
		return (index < this.json.length) ? this.json[index] : 0;
	}

	private static boolean isDigit(int character) {
		return character >= '0' && character <= '9';
	}

}
