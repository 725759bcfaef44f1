package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Documents that are expensive or dangerous to parse, none over a megabyte.
 */
final class HostileJson {

	private static final int MEGABYTE = 1024 * 1024;

	private HostileJson() {
	}

	/**
	 * The documents by their description.
	 */
	static Map<String, byte[]> documents() {
		Map<String, String> texts = new LinkedHashMap<>();
		texts.put("nothing", "");
		texts.put("white space", " ".repeat(MEGABYTE));
		texts.put("NUL", "\0");
		texts.put("an exponent of nine digits", "{\"event\":1e999999999}");
		texts.put("an exponent of a million digits", "{\"event\":1e" + "1".repeat(1_000_000) + "}");
		texts.put("a number of a million digits", "{\"event\":" + "1".repeat(1_000_000) + "}");
		texts.put("a million open arrays", "[".repeat(1_000_000));
		texts.put("200,000 open objects", "{\"a\":".repeat(200_000));
		texts.put("200,000 levels", "[".repeat(200_000) + "]".repeat(200_000));
		texts.put("a key twice", "{\"event\":1,\"event\":2}");
		texts.put("a lone surrogate", "{\"event\":\"\\ud800\"}");
		texts.put("a byte order mark", "\ufeff{\"event\":1}");
		texts.put("members in reverse order", members());
		texts.put("empty arrays", "[" + "[],".repeat(349_000) + "1]");
		texts.put("a string of escapes", "\"" + "\\u0000".repeat(174_000) + "\"");
		texts.put("an exponent that fits no int", "{\"event\":1e2147483648}");
		texts.put("names whose hashes collide", collidingNames());
		texts.put("an object cut short", "{\"event\":1,\"a\":[");
		Map<String, byte[]> documents = new LinkedHashMap<>();
		texts.forEach((name, text) -> documents.put(name, text.getBytes(StandardCharsets.UTF_8)));
		documents.put("invalid UTF-8", "{\"event\":\"\u00ff\u00c0\u00af\"}".getBytes(StandardCharsets.ISO_8859_1));
		return documents;
	}

	/**
	 * As many members as fit, all of which must be sorted.
	 */
	private static String members() {
		return IntStream.iterate(0xfffff, (name) -> name - 1)
			.limit(100_000)
			.mapToObj("\"%x\":1"::formatted)
			.collect(Collectors.joining(",", "{", "}"));
	}

	private static String collidingNames() {
		return IntStream.range(0, 1 << 14)
			.mapToObj((bits) -> IntStream.range(0, 14)
				.mapToObj((bit) -> ((bits >> bit & 1) == 0) ? "Ab" : "BA")
				.collect(Collectors.joining("", "\"", "\":0")))
			.collect(Collectors.joining(",", "{", "}"));
	}

}
