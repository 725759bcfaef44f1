package dev.idempotent.idempotency.canonical;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson} with random documents, which it reads as Jackson does.
 */
class CanonicalJsonFuzzTests {

	private static final int DEPTH = 4;

	private static final JsonMapper JACKSON = JsonMapper.builder()
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.build();

	private static final List<String> TOKENS = List.of("{", "}", "[", "]", ",", ":", "\"", "\"\"", "\"a\":", "{\"a\":",
			"\"\\u0061\":", "1", "0", "-", "-0", "0.0", "1e0", "1.0", "1E+2", "10e-1", "0.1e1", "1e-99", "e", ".",
			"true", "false", "null", " ", "\n", "\t", "\r", "\\", "\\u", "\\ud83d\\ude00", "\ud83d\ude00", "\u00e9",
			"\ue000", "\u0000", "\u001f", "\ufeff", "aaaaaaaa", "\\n", "\\/", "\"\\ud800\"");

	private static final List<String> NAMES = List.of("", "a", "aa", "aaaaaaa", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaab",
			"aaaaaaab", "\\u0061", "aaaaaaa\\u0061", "\\u0000", "\\u0000a", "!", "\ue000", "\uffff", "\ud83d\ude00",
			"\\ud83d\\ude00", "aaaaaaaa\ue000", "aaaaaaaa\ud83d\ude00", "\\n", "\\u000a", "\\\"", "\\\\", "\\/", "/",
			"\\\\u0061", "\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\\ud7ff", "\\ud800", "\\udc00",
			"aaaaaaa\u00e9", "aaaaaaa\u00ea");

	private static final String DAMAGE = "00 1f 20 22 5b 5c 5d 7b 7d 2c 7f 80 9f a0 bf c0 c1 c2 df e0 ed ef f0 f4 f5 ff";

	private final Map<Object, String> formsByValue = new HashMap<>();

	private final Map<String, Object> valuesByForm = new HashMap<>();

	static LongStream seeds() {
		return LongStream.rangeClosed(1, 100);
	}

	static LongStream fewSeeds() {
		return LongStream.rangeClosed(1, 20);
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void isEqualForEveryNotationOfAValueAndDifferentForAnotherValue(long seed) {
		RandomJson random = new RandomJson(seed);
		Object value = random.value(DEPTH);
		String text = random.text(value);
		String canonical = canonical(text);
		assertThat(canonical(random.text(value))).as(text).isEqualTo(canonical);
		assertThat(canonical(canonical)).isEqualTo(canonical);
		assertThat(canonical(random.text(random.mutated(value)))).as(text).isNotEqualTo(canonical);
	}

	@ParameterizedTest
	@MethodSource("seeds")
	void isNullOrCanonicalForDamagedBytes(long seed) {
		RandomJson random = new RandomJson(seed);
		byte[] json = random.text(random.value(DEPTH)).getBytes(StandardCharsets.UTF_8);
		Random damage = new Random(seed);
		for (int i = 0; i < 20; i++) {
			json[damage.nextInt(json.length)] = (byte) damage.nextInt();
			String canonical = CanonicalJson.of(json);
			if (canonical != null) {
				assertThat(canonical(canonical)).isEqualTo(canonical);
			}
		}
	}

	@ParameterizedTest
	@MethodSource("fewSeeds")
	void isEqualForDocumentsOfTokensThatJacksonReadsAsEqual(long seed) {
		Random random = new Random(seed);
		for (int i = 0; i < 2_000; i++) {
			assertAgreement(random.ints(1 + random.nextInt(7), 0, TOKENS.size())
				.mapToObj(TOKENS::get)
				.collect(Collectors.joining())
				.getBytes(StandardCharsets.UTF_8));
		}
	}

	@ParameterizedTest
	@MethodSource("fewSeeds")
	void isEqualForObjectsThatJacksonReadsAsEqual(long seed) {
		Random random = new Random(seed);
		String[] damage = DAMAGE.split(" ", -1);
		for (int i = 0; i < 500; i++) {
			byte[] json = object(random, 2).getBytes(StandardCharsets.UTF_8);
			assertAgreement(json);
			for (int j = 0; j < 3; j++) {
				json[random.nextInt(json.length)] = (byte) Integer.parseInt(damage[random.nextInt(damage.length)], 16);
				assertAgreement(json);
			}
		}
	}

	private static String canonical(String json) {
		return Objects.requireNonNull(CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8)), json);
	}

	private static String object(Random random, int depth) {
		List<String> names = random.ints(random.nextInt(4), 0, NAMES.size())
			.mapToObj(NAMES::get)
			.collect(Collectors.toList());
		if (random.nextInt(8) == 0) {
			names.addAll(NAMES.subList(0, 8));
			names.addAll(NAMES.subList(10, 20));
			Collections.shuffle(names, random);
		}
		return IntStream.range(0, names.size())
			.mapToObj((i) -> "\"" + names.get(i) + "\":"
					+ ((depth > 0 && random.nextInt(3) == 0) ? object(random, depth - 1) : random.nextInt(2)))
			.collect(Collectors.joining(",", "{", "}"));
	}

	private void assertAgreement(byte[] json) {
		String text = new String(json, StandardCharsets.UTF_8);
		String form = CanonicalJson.of(json);
		Object value = read(json);
		assertThat(form == null).as(text).isEqualTo(value == null);
		if (form == null || value == null) {
			return;
		}
		assertThat(this.formsByValue.computeIfAbsent(value, (key) -> form)).as(text).isEqualTo(form);
		assertThat(this.valuesByForm.computeIfAbsent(form, (key) -> value)).as(text).isEqualTo(value);
		assertThat(read(form.getBytes(StandardCharsets.UTF_8))).as(text).isEqualTo(value);
	}

	/**
	 * Jackson itself accepts other encodings, and broken UTF-8 in names.
	 */
	private static @Nullable Object read(byte[] json) {
		try {
			String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json)).toString();
			JsonNode document = JACKSON.readTree(text);
			return document.isMissingNode() ? null : valueOf(document);
		}
		catch (CharacterCodingException | JacksonException ex) {
			return null;
		}
	}

	private static Object valueOf(JsonNode node) {
		if (node.isNumber()) {
			return node.decimalValue().stripTrailingZeros();
		}
		if (node.isArray()) {
			return node.valueStream().map(CanonicalJsonFuzzTests::valueOf).toList();
		}
		if (node.isObject()) {
			return node.propertyStream()
				.collect(Collectors.toMap(Map.Entry::getKey, (member) -> valueOf(member.getValue())));
		}
		return node;
	}

}
