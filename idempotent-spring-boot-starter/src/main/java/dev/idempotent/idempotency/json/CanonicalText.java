package dev.idempotent.idempotency.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Text in UTF-8 that grows.
 */
final class CanonicalText {

	private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

	private static final int MIN_GROWTH = 64;

	private byte[] bytes;

	private int length;

	CanonicalText(int capacity) {
		this.bytes = new byte[capacity + Long.BYTES];
	}

	int length() {
		return this.length;
	}

	/**
	 * Returns the bytes, of which only those before {@link #length()} are text. The next
	 * change may replace the array.
	 */
	byte[] bytes() {
		return this.bytes;
	}

	byte[] toBytes() {
		return (this.length == this.bytes.length) ? this.bytes : Arrays.copyOf(this.bytes, this.length);
	}

	/**
	 * Returns eight bytes, which may be beyond the length.
	 */
	long longAt(int index) {
		if (index > this.bytes.length - Long.BYTES) {
			grow(Long.BYTES);
		}
		return (long) LONGS.get(this.bytes, index);
	}

	void append(int ascii) {
		if (this.length == this.bytes.length) {
			grow(1);
		}
		this.bytes[this.length++] = (byte) ascii;
	}

	void append(byte[] source, int from, int to) {
		int count = to - from;
		if (count > this.bytes.length - this.length) {
			grow(count);
		}
		System.arraycopy(source, from, this.bytes, this.length, count);
		this.length += count;
	}

	void append(String ascii) {
		for (int i = 0; i < ascii.length(); i++) {
			append(ascii.charAt(i));
		}
	}

	void appendCodePoint(int point) {
		if (point < 0x80) {
			append(point);
			return;
		}
		if (point < 0x800) {
			append(0xc0 | (point >> 6));
		}
		else {
			if (point < 0x10000) {
				append(0xe0 | (point >> 12));
			}
			else {
				append(0xf0 | (point >> 18));
				append(0x80 | ((point >> 12) & 0x3f));
			}
			append(0x80 | ((point >> 6) & 0x3f));
		}
		append(0x80 | (point & 0x3f));
	}

	/**
	 * Discards the end of the text.
	 */
	void truncate(int newLength) {
		this.length = newLength;
	}

	private void grow(int count) {
		int needed = Math.addExact(this.length, count);
		this.bytes = Arrays.copyOf(this.bytes, Math.max(needed, needed + (needed >> 1) + MIN_GROWTH));
	}

}
