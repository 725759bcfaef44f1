package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson} with random documents.
 */
class CanonicalJsonFuzzTests {

	private static final int DEPTH = 4;

	static LongStream seeds() {
		return LongStream.rangeClosed(1, 100);
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

	private static String canonical(String json) {
		return Objects.requireNonNull(CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8)), json);
	}

}
