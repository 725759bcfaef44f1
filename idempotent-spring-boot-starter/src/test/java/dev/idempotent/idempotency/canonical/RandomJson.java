package dev.idempotent.idempotency.canonical;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Random JSON values, and random notations of them. A value is a {@link Map}, a
 * {@link List}, a {@link String}, a {@link BigDecimal} or a {@link Literal}.
 */
final class RandomJson {

	private static final String CHARACTERS = "ab/\"\\\b\t\n\f\r\u0000\u001f\u007f\u00e9\u20ac\ud800\udc00\uffff";

	private final Random random;

	RandomJson(long seed) {
		this.random = new Random(seed);
	}

	Object value(int depth) {
		return switch (this.random.nextInt((depth > 0) ? 5 : 3)) {
			case 0 -> Literal.values()[this.random.nextInt(Literal.values().length)];
			case 1 -> string();
			case 2 -> number();
			case 3 -> sizes().mapToObj((i) -> value(depth - 1)).toList();
			default -> sizes().boxed()
				.collect(Collectors.toMap((i) -> string(), (i) -> value(depth - 1), (a, b) -> a, LinkedHashMap::new));
		};
	}

	BigDecimal number() {
		BigInteger digits = new BigInteger(1 + this.random.nextInt(90), this.random);
		BigDecimal magnitude = new BigDecimal(digits, this.random.nextInt(-30, 30));
		return this.random.nextBoolean() ? magnitude : magnitude.negate();
	}

	/**
	 * The same number, an adjacent one, or one of another magnitude or sign.
	 */
	BigDecimal similarNumber(BigDecimal number) {
		return switch (this.random.nextInt(4)) {
			case 0 -> number.add(number.ulp());
			case 1 -> number.movePointRight(1);
			case 2 -> number.negate();
			default -> number;
		};
	}

	/**
	 * A value that differs from the given one in one place.
	 */
	Object mutated(Object value) {
		if (value instanceof Map<?, ?> map && !map.isEmpty()) {
			Map<Object, Object> copy = new LinkedHashMap<>(map);
			Object name = List.copyOf(copy.keySet()).get(this.random.nextInt(copy.size()));
			Object member = copy.remove(name);
			if (this.random.nextBoolean()) {
				copy.put(name, mutated(member));
			}
			return copy;
		}
		if (value instanceof List<?> list && !list.isEmpty()) {
			List<Object> copy = new ArrayList<>(list);
			int index = this.random.nextInt(copy.size());
			copy.set(index, mutated(copy.get(index)));
			return copy;
		}
		return (value instanceof BigDecimal number) ? number.add(number.ulp()) : List.of(value);
	}

	/**
	 * A text of the value with random order of keys, white space, escapes and notation of
	 * numbers.
	 */
	String text(Object value) {
		return space() + bareText(value) + space();
	}

	private String bareText(Object value) {
		if (value instanceof Map<?, ?> map) {
			List<Map.Entry<?, ?>> members = new ArrayList<>(map.entrySet());
			Collections.shuffle(members, this.random);
			return members.stream()
				.map((member) -> text(member.getKey()) + ":" + text(member.getValue()))
				.collect(Collectors.joining(",", "{", "}"));
		}
		if (value instanceof List<?> list) {
			return list.stream().map(this::text).collect(Collectors.joining(",", "[", "]"));
		}
		if (value instanceof String string) {
			return string.codePoints().mapToObj(this::character).collect(Collectors.joining("", "\"", "\""));
		}
		return (value instanceof BigDecimal number) ? spelling(number) : value.toString().toLowerCase(Locale.ROOT);
	}

	String spelling(BigDecimal number) {
		int shift = this.random.nextInt(-9, 9);
		return switch (this.random.nextInt(5)) {
			case 0 -> number.toString();
			case 1 -> number.toPlainString();
			case 2 -> number.unscaledValue() + "e" + -number.scale();
			case 3 -> number.setScale(number.scale() + 9).toString();
			default ->
				number.movePointLeft(shift).toPlainString() + "E" + ((shift < 0) ? "-0" : "+0") + Math.abs(shift);
		};
	}

	private String character(int codePoint) {
		boolean mustEscape = codePoint < ' ' || codePoint == '"' || codePoint == '\\'
				|| Character.getType(codePoint) == Character.SURROGATE;
		if (!mustEscape && this.random.nextBoolean()) {
			return Character.toString(codePoint);
		}
		int shortEscape = "\"\\/\b\f\n\r\t".indexOf(codePoint);
		if (shortEscape >= 0 && this.random.nextBoolean()) {
			return "\\" + "\"\\/bfnrt".charAt(shortEscape);
		}
		String format = this.random.nextBoolean() ? "\\u%04x" : "\\u%04X";
		return Character.toString(codePoint).chars().mapToObj(format::formatted).collect(Collectors.joining());
	}

	private String string() {
		return sizes().mapToObj((i) -> CHARACTERS.charAt(this.random.nextInt(CHARACTERS.length())))
			.map(String::valueOf)
			.collect(Collectors.joining());
	}

	private String space() {
		return List.of("", "", "", " ", "\t", "\r\n").get(this.random.nextInt(6));
	}

	private IntStream sizes() {
		return IntStream.range(0, this.random.nextInt(6));
	}

	private enum Literal {

		TRUE, FALSE, NULL

	}

}
