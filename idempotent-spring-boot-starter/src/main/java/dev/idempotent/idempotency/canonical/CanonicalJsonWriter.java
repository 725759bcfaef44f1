package dev.idempotent.idempotency.canonical;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.StreamReadException;

/**
 * Writes the canonical form of what a parser reads. It has one buffer for the whole
 * document: members are written as they come, and moved only if they are not sorted.
 */
final class CanonicalJsonWriter {

	private static final String ESCAPED = "\"\\\b\f\n\r\t";

	private static final String ESCAPES = "\"\\bfnrt";

	/**
	 * The most bytes that a character can take: a control character is escaped.
	 */
	private static final int MAX_CHARACTER_LENGTH = "\\u0000".length();

	private static final byte[] TRUE = { 't', 'r', 'u', 'e' };

	private static final byte[] FALSE = { 'f', 'a', 'l', 's', 'e' };

	private static final byte[] NULL = { 'n', 'u', 'l', 'l' };

	private static final int MAX_PLAIN_LENGTH = 21;

	private static final BigInteger MIN_PLAIN_POWER = BigInteger.valueOf(-6);

	private static final BigInteger MAX_PLAIN_POWER = BigInteger.valueOf(20);

	private static final int FIRST_MEMBERS = 16;

	/**
	 * So many members are sorted by insertion, which is faster for a few.
	 */
	private static final int MAX_INSERTIONS = 16;

	private final JsonParser parser;

	private byte[] bytes;

	private int length;

	/**
	 * The names of the members of all objects that are open, and where each begins.
	 */
	private String[] names = new String[FIRST_MEMBERS];

	private int[] begins = new int[FIRST_MEMBERS];

	private int members;

	private byte[] unsorted = {};

	CanonicalJsonWriter(JsonParser parser, int expectedLength) {
		this.parser = parser;
		this.bytes = new byte[expectedLength + 1];
	}

	/**
	 * Returns what was written.
	 */
	byte[] toBytes() {
		return Arrays.copyOf(this.bytes, this.length);
	}

	/**
	 * Writes the value that the parser is at.
	 * @param ignored pointers to its members to omit
	 */
	void writeValue(List<JsonPointer> ignored) {
		switch (this.parser.currentToken()) {
			case START_OBJECT -> writeObject(ignored);
			case START_ARRAY -> writeArray(ignored);
			case VALUE_STRING -> {
				char[] value = this.parser.getStringCharacters();
				int start = this.parser.getStringOffset();
				writeQuoted(value, start, start + this.parser.getStringLength());
			}
			case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> writeNumber();
			case VALUE_TRUE -> write(TRUE);
			case VALUE_FALSE -> write(FALSE);
			default -> write(NULL);
		}
	}

	/**
	 * Writes an object, sorted by the UTF-16 code units of its names. Ignored members are
	 * omitted, but must be valid, too.
	 */
	private void writeObject(List<JsonPointer> ignored) {
		write('{');
		int first = this.members;
		int start = this.length;
		boolean sorted = true;
		while (this.parser.nextToken() != JsonToken.END_OBJECT) {
			String name = this.parser.currentName();
			int begin = this.length;
			writeName(name);
			write(':');
			this.parser.nextToken();
			if (ignored.isEmpty()) {
				writeValue(ignored);
				write(',');
			}
			else {
				List<JsonPointer> below = below(ignored, (pointer) -> pointer.matchProperty(name));
				writeValue(below);
				write(',');
				this.length = below.contains(JsonPointer.empty()) ? begin : this.length;
			}
			sorted = sorted && (this.members == first || this.names[this.members - 1].compareTo(name) < 0);
			add(name, begin);
		}
		if (!sorted) {
			sort(first, start);
		}
		this.members = first;
		close(start, '}');
	}

	private void add(String name, int begin) {
		if (this.members == this.names.length) {
			this.names = Arrays.copyOf(this.names, 2 * this.members);
			this.begins = Arrays.copyOf(this.begins, 2 * this.members);
		}
		this.names[this.members] = name;
		this.begins[this.members++] = begin;
	}

	/**
	 * Sorts the members of the innermost object.
	 * @param first the first member
	 * @param start where it begins
	 */
	private void sort(int first, int start) {
		int[] order = sorted(first);
		int size = this.length - start;
		if (this.unsorted.length < size) {
			this.unsorted = new byte[Math.max(size, 2 * this.unsorted.length)];
		}
		System.arraycopy(this.bytes, start, this.unsorted, 0, size);
		int to = start;
		for (int i = 0; i < order.length; i++) {
			int member = order[i];
			if (i > 0 && this.names[order[i - 1]].equals(this.names[member])) {
				throw new StreamReadException(this.parser, "Duplicate name");
			}
			int begin = this.begins[member] - start;
			int end = (member + 1 < this.members) ? this.begins[member + 1] - start : size;
			System.arraycopy(this.unsorted, begin, this.bytes, to, end - begin);
			to += end - begin;
		}
	}

	/**
	 * Returns the members of the innermost object in the order of their names.
	 */
	private int[] sorted(int first) {
		int count = this.members - first;
		if (count > MAX_INSERTIONS) {
			return IntStream.range(first, this.members)
				.boxed()
				.sorted(Comparator.comparing((member) -> this.names[member]))
				.mapToInt(Integer::intValue)
				.toArray();
		}
		int[] order = new int[count];
		for (int i = 0; i < count; i++) {
			String name = this.names[first + i];
			int at = i;
			while (at > 0 && this.names[order[at - 1]].compareTo(name) > 0) {
				order[at] = order[--at];
			}
			order[at] = first + i;
		}
		return order;
	}

	private void writeArray(List<JsonPointer> ignored) {
		write('[');
		int start = this.length;
		for (int i = 0; this.parser.nextToken() != JsonToken.END_ARRAY; i++) {
			int index = i;
			writeValue(ignored.isEmpty() ? ignored : below(ignored, (pointer) -> pointer.matchElement(index)));
			write(',');
		}
		close(start, ']');
	}

	/**
	 * Ends a list of values, each of which has a comma behind it.
	 */
	private void close(int start, char end) {
		this.length = Math.max(start, this.length - 1);
		write(end);
	}

	private static List<JsonPointer> below(List<JsonPointer> ignored,
			Function<JsonPointer, @Nullable JsonPointer> step) {
		return ignored.stream().map(step).filter(Objects::nonNull).toList();
	}

	private void writeName(String name) {
		int characters = name.length();
		int begin = this.length;
		reserve(characters + 1);
		this.bytes[this.length++] = '"';
		for (int i = 0; i < characters; i++) {
			char next = name.charAt(i);
			if (!isPlain(next)) {
				this.length = begin;
				writeQuoted(name.toCharArray(), 0, characters);
				return;
			}
			this.bytes[this.length++] = (byte) next;
		}
		write('"');
	}

	private void writeQuoted(char[] value, int start, int end) {
		reserve(end - start + 1);
		byte[] target = this.bytes;
		int to = this.length;
		target[to++] = '"';
		int next = start;
		while (next < end && isPlain(value[next])) {
			target[to++] = (byte) value[next++];
		}
		this.length = to;
		if (next < end) {
			writeCharacters(value, start, next, end);
		}
		write('"');
	}

	private static boolean isPlain(char character) {
		return character >= ' ' && character < 0x80 && character != '"' && character != '\\';
	}

	/**
	 * Writes characters of which some are escaped or have several bytes.
	 * @param start where the string begins
	 * @param from the first character that is not written yet
	 */
	private void writeCharacters(char[] value, int start, int from, int end) {
		for (int i = from; i < end; i++) {
			char next = value[i];
			reserve(MAX_CHARACTER_LENGTH);
			if (isPlain(next)) {
				this.bytes[this.length++] = (byte) next;
			}
			else if (next < 0x80 || isLoneSurrogate(value, start, i, end)) {
				writeEscape(next);
			}
			else if (Character.isHighSurrogate(next)) {
				int point = Character.toCodePoint(next, value[++i]);
				this.bytes[this.length++] = (byte) (0xf0 | point >> 18);
				writeContinuation(point >> 12);
				writeContinuation(point >> 6);
				writeContinuation(point);
			}
			else if (next < 0x800) {
				this.bytes[this.length++] = (byte) (0xc0 | next >> 6);
				writeContinuation(next);
			}
			else {
				this.bytes[this.length++] = (byte) (0xe0 | next >> 12);
				writeContinuation(next >> 6);
				writeContinuation(next);
			}
		}
	}

	private void writeContinuation(int bits) {
		this.bytes[this.length++] = (byte) (0x80 | (bits & 0x3f));
	}

	/**
	 * Escapes a quotation mark, a backslash, a control character, or a lone surrogate.
	 */
	private void writeEscape(char character) {
		int letter = ESCAPED.indexOf(character);
		write('\\');
		if (letter >= 0) {
			write(ESCAPES.charAt(letter));
		}
		else {
			write('u');
			for (int shift = 12; shift >= 0; shift -= 4) {
				write(Character.forDigit(character >> shift & 0xf, 16));
			}
		}
	}

	/**
	 * Returns whether a character has no encoding of its own.
	 */
	private static boolean isLoneSurrogate(char[] value, int start, int index, int end) {
		char next = value[index];
		if (Character.isHighSurrogate(next)) {
			return index + 1 == end || !Character.isLowSurrogate(value[index + 1]);
		}
		return Character.isLowSurrogate(next) && (index == start || !Character.isHighSurrogate(value[index - 1]));
	}

	/**
	 * Writes the number that the parser is at. Most are short and have neither an
	 * exponent nor zeros to remove.
	 */
	private void writeNumber() {
		char[] value = this.parser.getStringCharacters();
		int start = this.parser.getStringOffset();
		int characters = this.parser.getStringLength();
		// Jackson itself limits only what it converts.
		this.parser.streamReadConstraints().validateFPLength(characters);
		if (characters <= MAX_PLAIN_LENGTH && isCanonical(value, start, start + characters)) {
			reserve(characters);
			for (int i = 0; i < characters; i++) {
				this.bytes[this.length++] = (byte) value[start + i];
			}
		}
		else {
			write(number(new String(value, start, characters)).getBytes(StandardCharsets.ISO_8859_1));
		}
	}

	/**
	 * Returns whether a number is 0, or is at least 0.1, has no exponent, and has no
	 * zeros at the end of its fraction.
	 */
	private static boolean isCanonical(char[] value, int start, int end) {
		int first = (value[start] == '-') ? start + 1 : start;
		if (value[first] == '0') {
			if (end == first + 1) {
				return first == start;
			}
			if (value[first + 2] == '0') {
				return false;
			}
		}
		boolean fraction = false;
		for (int i = first; i < end; i++) {
			if (value[i] == '.') {
				fraction = true;
			}
			else if (value[i] > '9') {
				return false;
			}
		}
		return !fraction || value[end - 1] != '0';
	}

	/**
	 * Returns the canonical form of a number: its decimal value in the format of
	 * ECMAScript's {@code Number::toString}, but with all digits and any exponent. Works
	 * on the text: a large exponent is never expanded, and zeros are not divided off one
	 * by one, as by {@code BigDecimal}.
	 */
	private static String number(String json) {
		int mark = Math.max(json.indexOf('e'), json.indexOf('E'));
		String mantissa = (mark < 0) ? json : json.substring(0, mark);
		String sign = json.startsWith("-") ? "-" : "";
		int point = mantissa.indexOf('.');
		String all = mantissa.substring(sign.length()).replace(".", "");
		String significant = StringUtils.trimLeadingCharacter(all, '0');
		if (significant.isEmpty()) {
			return "0";
		}
		int integerDigits = ((point < 0) ? mantissa.length() : point) - sign.length();
		BigInteger power = ((mark < 0) ? BigInteger.ZERO : new BigInteger(json.substring(mark + 1)))
			.add(BigInteger.valueOf(integerDigits - (all.length() - significant.length()) - 1));
		return sign + decimal(StringUtils.trimTrailingCharacter(significant, '0'), power);
	}

	/**
	 * Returns a decimal number.
	 * @param power the power of ten of the first digit
	 */
	private static String decimal(String digits, BigInteger power) {
		if (power.compareTo(MIN_PLAIN_POWER) < 0 || power.compareTo(MAX_PLAIN_POWER) > 0) {
			return digits.charAt(0) + ((digits.length() > 1) ? "." + digits.substring(1) : "")
					+ ((power.signum() > 0) ? "e+" : "e") + power;
		}
		int integerDigits = power.intValue() + 1;
		if (integerDigits <= 0) {
			return "0." + "0".repeat(-integerDigits) + digits;
		}
		return (digits.length() <= integerDigits) ? digits + "0".repeat(integerDigits - digits.length())
				: digits.substring(0, integerDigits) + "." + digits.substring(integerDigits);
	}

	private void write(byte[] ascii) {
		reserve(ascii.length);
		System.arraycopy(ascii, 0, this.bytes, this.length, ascii.length);
		this.length += ascii.length;
	}

	private void write(char ascii) {
		reserve(1);
		this.bytes[this.length++] = (byte) ascii;
	}

	private void reserve(int more) {
		if (more > this.bytes.length - this.length) {
			this.bytes = Arrays.copyOf(this.bytes, Math.max(this.length + more, 2 * this.bytes.length));
		}
	}

}
