package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link CanonicalJson} with hostile documents.
 */
class CanonicalJsonLimitsTests {

	@Test
	void readsNestingUpTo128Levels() {
		String deepest = "[".repeat(128) + "]".repeat(128);
		assertThat(canonical(deepest)).isEqualTo(deepest);
		assertThat(canonical("[" + deepest + "]")).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "[", "{\"a\":", "[{\"a\":" })
	void isNullFor200000Levels(String level) {
		assertThat(canonical(level.repeat(200_000))).isNull();
	}

	@Test
	void readsNumbersUpTo1000Digits() {
		assertThat(canonical("1".repeat(1_000))).isEqualTo("1." + "1".repeat(999) + "e+999");
		assertThat(canonical("1".repeat(1_001))).isNull();
		assertThat(canonical("1e" + "1".repeat(1_000_000))).isNull();
	}

	@Test
	void readsAMegabyteOfEmptyObjects() {
		String objects = "{}" + ",{}".repeat(350_000);
		assertThat(canonical("[" + objects + "]")).isEqualTo("[" + objects + "]");
		assertThat(canonical(objects)).isNull();
	}

	@Test
	void sortsAMegabyteOfMembersInReverseOrder() {
		assertThat(canonical(members(IntStream.iterate(99_999, (i) -> i >= 0, (i) -> i - 1))))
			.isEqualTo(members(IntStream.range(0, 100_000)));
	}

	@Test
	void readsNamesAsLongAsStrings() {
		String name = "\"" + "n".repeat(1_000_000) + "\"";
		assertThat(canonical("{%s: %s}".formatted(name, name))).isEqualTo("{%s:%s}".formatted(name, name));
	}

	@Test
	void readsNamesThatCollideInTheSymbolTableOfTheParser() {
		String names = IntStream.range(0, 1 << 12)
			.mapToObj((bits) -> IntStream.range(0, 12)
				.mapToObj((bit) -> ((bits >> bit & 1) == 0) ? "Ab" : "BA")
				.collect(Collectors.joining("", "\"", "\":0")))
			.sorted()
			.collect(Collectors.joining(",", "{", "}"));
		assertThat(canonical(names)).isEqualTo(names);
	}

	private static String members(IntStream numbers) {
		return numbers.mapToObj("\"%05d\":1"::formatted).collect(Collectors.joining(",", "{", "}"));
	}

	private static @Nullable String canonical(String json) {
		return CanonicalJson.of(json.getBytes(StandardCharsets.UTF_8));
	}

}
