package dev.idempotent.idempotency.json;

import java.nio.charset.StandardCharsets;

import dev.idempotent.idempotency.json.CanonicalMembers.Member;

/**
 * Encodes one document in a single pass over its bytes.
 */
final class CanonicalEncoder {

	private static final int MAX_DEPTH = 128;

	private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);

	private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

	private final byte[] json;

	private final CanonicalText text;

	private final CanonicalString strings;

	private final CanonicalNumber numbers;

	private final CanonicalMembers members;

	private int at;

	CanonicalEncoder(byte[] json) {
		this.json = json;
		this.text = new CanonicalText(json.length);
		this.strings = new CanonicalString(json, this.text);
		this.numbers = new CanonicalNumber(json, this.text);
		this.members = new CanonicalMembers(this.text);
	}

	/**
	 * Encodes the document.
	 * @throws NotCanonicalException if it has no canonical form
	 */
	byte[] encode(IgnoredMembers ignored) {
		value(ignored, 0);
		if (next() >= 0) {
			throw new NotCanonicalException();
		}
		return this.text.toBytes();
	}

	private void value(IgnoredMembers ignored, int depth) {
		switch (next()) {
			case '{' -> object(ignored, depth + 1);
			case '[' -> array(ignored, depth + 1);
			case '"' -> this.at = this.strings.append(this.at + 1);
			case 't' -> literal(TRUE);
			case 'f' -> literal(FALSE);
			case 'n' -> literal(NULL);
			default -> this.at = this.numbers.append(this.at);
		}
	}

	private void object(IgnoredMembers ignored, int depth) {
		int first = this.members.size();
		open('{', depth);
		if (next() != '}') {
			member(ignored, depth);
			while (isContinued('}')) {
				member(ignored, depth);
			}
			this.members.close(first);
		}
		close('}');
	}

	private void member(IgnoredMembers ignored, int depth) {
		int start = this.text.length();
		if (next() != '"') {
			throw new NotCanonicalException();
		}
		this.at = this.strings.append(this.at + 1);
		Member member = this.members.add(start, this.strings.isPlain());
		int nameEnd = this.text.length();
		IgnoredMembers below = ignored.isEmpty() ? IgnoredMembers.NONE
				: ignored.below(CanonicalString.decode(this.text.bytes(), start + 1, nameEnd - 1));
		if (next() != ':') {
			throw new NotCanonicalException();
		}
		this.at++;
		this.text.append(':');
		value(below.isWhole() ? IgnoredMembers.NONE : below, depth);
		if (below.isWhole()) {
			this.text.truncate(nameEnd);
		}
		member.end(this.text.length(), below.isWhole());
	}

	private void array(IgnoredMembers ignored, int depth) {
		open('[', depth);
		if (next() != ']') {
			value(ignored.below(0), depth);
			for (int i = 1; isContinued(']'); i++) {
				value(ignored.below(i), depth);
			}
		}
		close(']');
	}

	private void open(int bracket, int depth) {
		if (depth > MAX_DEPTH) {
			throw new NotCanonicalException();
		}
		this.at++;
		this.text.append(bracket);
	}

	private void close(int bracket) {
		this.at++;
		this.text.append(bracket);
	}

	/**
	 * Reads and appends the comma before another element, unless the closing bracket is
	 * next.
	 */
	private boolean isContinued(int closing) {
		int next = next();
		if (next == closing) {
			return false;
		}
		if (next != ',') {
			throw new NotCanonicalException();
		}
		this.at++;
		this.text.append(',');
		return true;
	}

	private void literal(byte[] expected) {
		int end = this.at + expected.length;
		if (end > this.json.length) {
			throw new NotCanonicalException();
		}
		for (int i = 0; i < expected.length; i++) {
			if (this.json[this.at + i] != expected[i]) {
				throw new NotCanonicalException();
			}
		}
		this.text.append(this.json, this.at, end);
		this.at = end;
	}

	/**
	 * Skips white space.
	 * @return the next byte, which is not read, or -1 at the end
	 */
	private int next() {
		while (this.at < this.json.length) {
			int next = Byte.toUnsignedInt(this.json[this.at]);
			if (next > ' ' || (next != ' ' && next != '\n' && next != '\r' && next != '\t')) {
				return next;
			}
			this.at++;
		}
		return -1;
	}

}
