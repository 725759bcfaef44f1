package dev.idempotent.idempotency.json;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Builds the canonical text token by token.
 */
final class CanonicalText {

	private final StringBuilder text = new StringBuilder();

	private final Deque<OpenObject> openObjects = new ArrayDeque<>();

	/**
	 * Appends the current token of the parser.
	 */
	void append(JsonParser parser) {
		JsonToken token = parser.currentToken();
		if (!token.isStructEnd()) {
			separate();
		}
		switch (token) {
			case START_OBJECT -> startObject();
			case END_OBJECT -> endObject();
			case START_ARRAY -> this.text.append('[');
			case END_ARRAY -> this.text.append(']');
			case PROPERTY_NAME -> name(parser.getString());
			case VALUE_STRING -> string(parser.getString());
			case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> this.text.append(CanonicalNumber.of(parser.getString()));
			default -> this.text.append(token.asString());
		}
	}

	private void separate() {
		int last = this.text.length() - 1;
		// No complete value ends with one of these: a string ends with its quote.
		if (last >= 0 && "[{:".indexOf(this.text.charAt(last)) < 0) {
			this.text.append(',');
		}
	}

	private void startObject() {
		this.text.append('{');
		this.openObjects.push(new OpenObject());
	}

	private void endObject() {
		this.openObjects.pop().sortMembers(this.text);
		this.text.append('}');
	}

	private void name(String name) {
		this.openObjects.element().addMember(name, this.text.length());
		string(name);
		this.text.append(':');
	}

	private void string(String value) {
		this.text.append('"');
		value.codePoints().forEach(this::character);
		this.text.append('"');
	}

	private void character(int codePoint) {
		switch (codePoint) {
			case '"', '\\' -> this.text.append('\\').append((char) codePoint);
			case '\b' -> this.text.append("\\b");
			case '\t' -> this.text.append("\\t");
			case '\n' -> this.text.append("\\n");
			case '\f' -> this.text.append("\\f");
			case '\r' -> this.text.append("\\r");
			default -> otherCharacter(codePoint);
		}
	}

	private void otherCharacter(int codePoint) {
		// Unescaped, all lone surrogates would be encoded as the same replacement
		// character.
		if (codePoint < ' ' || Character.getType(codePoint) == Character.SURROGATE) {
			this.text.append("\\u").append(HexFormat.of().toHexDigits((char) codePoint));
		}
		else {
			this.text.appendCodePoint(codePoint);
		}
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

	/**
	 * An object whose members are being appended: records where each begins and whether
	 * their names are sorted.
	 */
	private static final class OpenObject {

		private final List<Member> members = new ArrayList<>();

		private boolean sorted = true;

		void addMember(String name, int start) {
			if (!this.members.isEmpty() && name.compareTo(this.members.get(this.members.size() - 1).name()) < 0) {
				this.sorted = false;
			}
			this.members.add(new Member(name, start));
		}

		/**
		 * Sorts the members, which are the end of the given text, by the UTF-16 code
		 * units of their names.
		 */
		void sortMembers(StringBuilder text) {
			if (this.sorted) {
				return;
			}
			SortedMap<String, String> sortedMembers = new TreeMap<>();
			int end = text.length();
			for (int i = this.members.size() - 1; i >= 0; i--) {
				Member member = this.members.get(i);
				sortedMembers.put(member.name(), text.substring(member.start(), end));
				end = member.start() - ",".length();
			}
			text.setLength(this.members.get(0).start());
			text.append(String.join(",", sortedMembers.values()));
		}

		private record Member(String name, int start) {
		}

	}

}
