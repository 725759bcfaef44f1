package dev.idempotent.idempotency.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Reads strings in UTF-8 and writes each character in one notation.
 */
final class CanonicalString {

	private static final String ESCAPED = "\"\\bfnrt/";

	private static final String CHARACTERS = "\"\\\b\f\n\r\t/";

	private static final int UNIT_DIGITS = 4;

	private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

	private static final long ONES = 0x0101010101010101L;

	private static final long SPACES = ' ' * ONES;

	private static final long QUOTES = '"' * ONES;

	private static final long BACKSLASHES = '\\' * ONES;

	private static final long HIGHEST_BITS = 0x8080808080808080L;

	private final byte[] json;

	private final CanonicalText text;

	private boolean plain;

	CanonicalString(byte[] json, CanonicalText text) {
		this.json = json;
		this.text = text;
	}

	/**
	 * Appends a string.
	 * @param start where its content begins
	 * @return where its closing quote ends
	 * @throws NotCanonicalException if it is invalid
	 */
	int append(int start) {
		this.plain = true;
		int unwritten = start - 1;
		int at = start;
		while ((at = unchangedEnd(at)) < this.json.length) {
			byte next = this.json[at];
			if (next == '"') {
				this.text.append(this.json, unwritten, at + 1);
				return at + 1;
			}
			if (next == '\\') {
				this.text.append(this.json, unwritten, at);
				at = escape(at + 1);
				unwritten = at;
			}
			else {
				at = multibyte(at);
			}
		}
		throw new NotCanonicalException();
	}

	/**
	 * Returns where the next quote, backslash, control character or byte beyond ASCII is.
	 */
	private int unchangedEnd(int start) {
		int at = start;
		while (at <= this.json.length - Long.BYTES) {
			long next = (long) LONGS.get(this.json, at);
			// Sets the highest bit of each byte that is looked for. A borrow only changes
			// bytes behind the first of them.
			long found = (next | (next - SPACES) | ((next ^ QUOTES) - ONES) | ((next ^ BACKSLASHES) - ONES))
					& HIGHEST_BITS;
			if (found != 0) {
				return at + Long.numberOfTrailingZeros(found) / Byte.SIZE;
			}
			at += Long.BYTES;
		}
		while (at < this.json.length && this.json[at] >= ' ' && this.json[at] != '"' && this.json[at] != '\\') {
			at++;
		}
		return at;
	}

	/**
	 * Returns whether the bytes of the last string are in the order of its UTF-16 code
	 * units: it has neither an escape nor a supplementary character.
	 */
	boolean isPlain() {
		return this.plain;
	}

	/**
	 * Returns where a character of several bytes ends.
	 */
	private int multibyte(int start) {
		int lead = Byte.toUnsignedInt(this.json[start]);
		int end = start + ((lead < 0xe0) ? 2 : (lead < 0xf0) ? 3 : 4);
		// Control characters, continuations, and what would begin an overlong sequence or
		// one beyond Unicode.
		if (lead < 0xc2 || lead > 0xf4 || end > this.json.length) {
			throw new NotCanonicalException();
		}
		int second = Byte.toUnsignedInt(this.json[start + 1]);
		int lowest = (lead == 0xe0) ? 0xa0 : (lead == 0xf0) ? 0x90 : 0x80;
		int highest = (lead == 0xed) ? 0x9f : (lead == 0xf4) ? 0x8f : 0xbf;
		if (second < lowest || second > highest) {
			throw new NotCanonicalException();
		}
		for (int i = start + 2; i < end; i++) {
			if ((this.json[i] & 0xc0) != 0x80) {
				throw new NotCanonicalException();
			}
		}
		this.plain &= lead < 0xf0;
		return end;
	}

	private int escape(int start) {
		int letter = (start < this.json.length) ? this.json[start] : 0;
		if (letter == 'u') {
			return unicode(start + 1);
		}
		int index = ESCAPED.indexOf(letter);
		if (index < 0) {
			throw new NotCanonicalException();
		}
		character(CHARACTERS.charAt(index));
		return start + 1;
	}

	private int unicode(int start) {
		int unit = unit(start);
		int end = start + UNIT_DIGITS;
		if (Character.isHighSurrogate((char) unit) && end + 1 < this.json.length && this.json[end] == '\\'
				&& this.json[end + 1] == 'u') {
			int next = unit(end + 2);
			if (Character.isLowSurrogate((char) next)) {
				character(Character.toCodePoint((char) unit, (char) next));
				return end + 2 + UNIT_DIGITS;
			}
		}
		character(unit);
		return end;
	}

	private int unit(int start) {
		if (this.json.length - start < UNIT_DIGITS) {
			throw new NotCanonicalException();
		}
		int unit = 0;
		for (int i = start; i < start + UNIT_DIGITS; i++) {
			int digit = Character.digit(this.json[i], 16);
			if (digit < 0) {
				throw new NotCanonicalException();
			}
			unit = unit << 4 | digit;
		}
		return unit;
	}

	private void character(int point) {
		int index = CHARACTERS.indexOf(point);
		if (index >= 0 && point != '/') {
			this.text.append('\\');
			this.text.append(ESCAPED.charAt(index));
			this.plain = false;
		}
		else if (point < ' ' || Character.getType(point) == Character.SURROGATE) {
			// Lone surrogates have no encoding of their own.
			this.text.append("\\u");
			this.text.append(HexFormat.of().toHexDigits((char) point));
			this.plain = false;
		}
		else {
			this.text.appendCodePoint(point);
			this.plain &= point < Character.MIN_SUPPLEMENTARY_CODE_POINT;
		}
	}

	/**
	 * Returns the characters of a string in canonical notation.
	 * @param from where its content begins
	 * @param to where its content ends
	 */
	static String decode(byte[] canonical, int from, int to) {
		String content = new String(canonical, from, to - from, StandardCharsets.UTF_8);
		if (content.indexOf('\\') < 0) {
			return content;
		}
		StringBuilder decoded = new StringBuilder(content.length());
		for (int i = 0; i < content.length(); i++) {
			char next = content.charAt(i);
			if (next != '\\') {
				decoded.append(next);
			}
			else if (content.charAt(++i) == 'u') {
				decoded.append((char) HexFormat.fromHexDigits(content, i + 1, i + 1 + UNIT_DIGITS));
				i += UNIT_DIGITS;
			}
			else {
				decoded.append(CHARACTERS.charAt(ESCAPED.indexOf(content.charAt(i))));
			}
		}
		return decoded.toString();
	}

}
