package dev.idempotent.idempotency.json;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson} with bytes that Jazzer makes up; trees of Jackson say
 * what is equal.
 */
class HostileJsonFuzzTests {

	/**
	 * No number in a shorter document reaches the bound on a number's length.
	 */
	private static final int MAX_LENGTH = 900;

	private static final JsonMapper trees = JsonMapper.builder()
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.build();

	private static final Comparator<JsonNode> BY_VALUE = (one, other) -> one.isNumber() && other.isNumber()
			? one.decimalValue().compareTo(other.decimalValue()) : (one.equals(other) ? 0 : 1);

	static Stream<byte[]> seeds() {
		return Stream
			.of("", "null", "[true,false,-0]", "{\"b\":[1,{}],\"a\":\"x\"}", "{\"a\":1,\"\\u0061\":2}",
					"[1e999999999,1E-999999999,10e-1,9007199254740993,0.1]", "\"\\ud83d\\ude00\\ud800\\n\\/\u00e9\"",
					"{\"\\r\":1,\"1\":2,\"\\ud83d\\ude00\":3,\"\\ufb33\":4}", "[".repeat(129) + "]".repeat(129),
					"[{\"a\":[{\"\":{\"c\":\",{[:\"}}]}]", "1".repeat(899), "\ufeff{}")
			.map((seed) -> seed.getBytes(StandardCharsets.UTF_8));
	}

	@MethodSource("seeds")
	@FuzzTest(maxDuration = "10m")
	void haveTheCanonicalFormOfTheirMeaningOrNone(byte[] json) {
		String canonical = CanonicalJson.of(json);
		if (canonical == null || json.length >= MAX_LENGTH) {
			return;
		}
		assertThat(canonical(canonical)).isEqualTo(canonical);
		JsonNode tree = tree(new String(json, StandardCharsets.UTF_8));
		if (tree != null) {
			assertThat(tree.equals(BY_VALUE, tree(canonical))).as(canonical).isTrue();
			assertThat(canonical(respelt(tree))).isEqualTo(canonical);
		}
	}

	private static @Nullable String canonical(String json) {
		return CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * The tree, or {@code null} if it has no room for one of the exponents.
	 */
	private static @Nullable JsonNode tree(String json) {
		try {
			return trees.readTree(json);
		}
		catch (JacksonException | NumberFormatException ex) {
			return null;
		}
	}

	/**
	 * The same document with the keys the other way round, all characters escaped and the
	 * numbers spelt with an exponent.
	 */
	private static String respelt(JsonNode tree) {
		if (tree.isObject()) {
			List<String> names = new ArrayList<>(tree.propertyNames());
			Collections.reverse(names);
			return names.stream()
				.map((name) -> escaped(name) + ":" + respelt(tree.get(name)))
				.collect(Collectors.joining(", ", "{ ", " }"));
		}
		if (tree.isArray()) {
			return tree.values()
				.stream()
				.map(HostileJsonFuzzTests::respelt)
				.collect(Collectors.joining(" , ", "[", "]"));
		}
		if (tree.isNumber()) {
			BigDecimal number = tree.decimalValue();
			return number.unscaledValue() + "E" + -(long) number.scale();
		}
		return tree.isString() ? escaped(tree.stringValue()) : tree.toString();
	}

	private static String escaped(String text) {
		return text.chars().mapToObj("\\u%04X"::formatted).collect(Collectors.joining("", "\"", "\""));
	}

}
