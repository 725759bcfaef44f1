package dev.idempotent.idempotency.canonical;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import tools.jackson.core.io.NumberOutput;

/**
 * A growing sequence of bytes. What has no fixed length is preceded by its length, so
 * that no two sequences of values have the same bytes.
 */
final class CanonicalBytes {

	/**
	 * Ends values that contain the same object many times over.
	 */
	private static final int MAX_LENGTH = 64 * 1024 * 1024;

	private static final int FIRST_LENGTH = 128;

	private byte[] bytes = new byte[FIRST_LENGTH];

	private int length;

	void tag(char tag) {
		reserve(1);
		this.bytes[this.length++] = (byte) tag;
	}

	void int32(int value) {
		reserve(Integer.BYTES);
		this.bytes[this.length++] = (byte) (value >>> 24);
		this.bytes[this.length++] = (byte) (value >>> 16);
		this.bytes[this.length++] = (byte) (value >>> 8);
		this.bytes[this.length++] = (byte) value;
	}

	void int64(long value) {
		int32((int) (value >>> Integer.SIZE));
		int32((int) value);
	}

	void bytes(byte[] value) {
		int32(value.length);
		raw(value);
	}

	void raw(byte[] value) {
		reserve(value.length);
		System.arraycopy(value, 0, this.bytes, this.length, value.length);
		this.length += value.length;
	}

	/**
	 * Writes a text with its tag: one byte for each character if all are Latin, else two.
	 * UTF-8 has no bytes for half of a character.
	 */
	void text(String value) {
		int characters = value.length();
		boolean latin = isLatin(value);
		tag(latin ? 't' : 'w');
		int32(characters);
		reserve(latin ? characters : 2L * characters);
		for (int i = 0; i < characters; i++) {
			char character = value.charAt(i);
			if (!latin) {
				this.bytes[this.length++] = (byte) (character >>> Byte.SIZE);
			}
			this.bytes[this.length++] = (byte) character;
		}
	}

	/**
	 * Writes the decimal value of a number, whatever its class: its digits without zeros
	 * at the end, and a power of ten. The power is never expanded.
	 */
	void number(Number value) {
		tag('n');
		if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
			integer(value.longValue());
		}
		else if (value instanceof BigInteger integer) {
			decimal(integer.toString(), 0);
		}
		else if (value instanceof BigDecimal decimal) {
			decimal(decimal.unscaledValue().toString(), -(long) decimal.scale());
		}
		else {
			binary(value);
		}
	}

	/**
	 * The shortest decimal number that stands for a binary one is what the application
	 * has written, and what JSON contains.
	 */
	private void binary(Number value) {
		double real = value.doubleValue();
		if (real == Math.rint(real) && Math.abs(real) <= 1L << 53) {
			integer((long) real);
		}
		else if (Double.isFinite(real)) {
			// Double.toString differs between versions of Java.
			BigDecimal decimal = new BigDecimal((value instanceof Float)
					? NumberOutput.toString(value.floatValue(), true) : NumberOutput.toString(real, true));
			decimal(decimal.unscaledValue().toString(), -(long) decimal.scale());
		}
		else {
			ascii(value.toString());
		}
	}

	private void integer(long value) {
		long digits = value;
		long power = 0;
		while (digits != 0 && digits % 10 == 0) {
			digits /= 10;
			power++;
		}
		ascii(Long.toString(digits));
		int64(power);
	}

	private void decimal(String unscaled, long power) {
		int end = unscaled.length();
		while (end > 1 && unscaled.charAt(end - 1) == '0') {
			end--;
		}
		String digits = unscaled.substring(0, end);
		ascii(digits);
		int64(digits.equals("0") ? 0 : power + unscaled.length() - end);
	}

	private void ascii(String value) {
		bytes(value.getBytes(StandardCharsets.US_ASCII));
	}

	private static boolean isLatin(String value) {
		for (int i = 0; i < value.length(); i++) {
			if (value.charAt(i) > 0xff) {
				return false;
			}
		}
		return true;
	}

	int length() {
		return this.length;
	}

	byte[] toBytes() {
		return Arrays.copyOf(this.bytes, this.length);
	}

	private void reserve(long more) {
		long needed = this.length + more;
		if (needed > MAX_LENGTH) {
			throw new IncomparableValueException("it is larger than " + MAX_LENGTH / 1024 / 1024 + " MB");
		}
		if (needed > this.bytes.length) {
			this.bytes = Arrays.copyOf(this.bytes, (int) Math.min(MAX_LENGTH, Math.max(needed, 2L * this.length)));
		}
	}

}
