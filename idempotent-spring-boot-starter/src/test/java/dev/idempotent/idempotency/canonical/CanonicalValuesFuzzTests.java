package dev.idempotent.idempotency.canonical;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares {@link CanonicalValues} with {@code equals} for random values.
 */
class CanonicalValuesFuzzTests {

	private static final int VALUES = 10_000;

	private final CanonicalValues values = new CanonicalValues(List.of());

	@Test
	void encodesEqualValuesAlikeAndAllOthersDifferently() {
		Map<String, Object> known = new HashMap<>();
		int changed = 0;
		for (int seed = 0; seed < VALUES; seed++) {
			Object value = new RandomValues(seed, 1, -1).next();
			Object equal = new RandomValues(seed, 2, -1).next();
			assertThat(equal).as("seed %s", seed).isEqualTo(value);
			assertThat(encode(equal)).as("seed %s", seed).isEqualTo(encode(value));
			Object other = new RandomValues(seed, 3, seed % 7).next();
			assertThat(encode(other).equals(encode(value))).as("seed %s: %s, %s", seed, value, other)
				.isEqualTo(other.equals(value));
			changed += other.equals(value) ? 0 : 1;
			Object known1 = known.putIfAbsent(encode(value), value);
			assertThat(known1 == null || known1.equals(value)).as("seed %s: %s, %s", seed, value, known1).isTrue();
		}
		assertThat(changed).isGreaterThan(VALUES / 3);
		assertThat(known).hasSizeGreaterThan(VALUES / 10);
	}

	@Test
	void findsADifferenceIfAndOnlyIfThereIsOne() {
		for (int seed = 0; seed < VALUES / 10; seed++) {
			Object value = new RandomValues(seed, 1, -1).next();
			Object other = new RandomValues(seed, 3, seed % 7).next();
			assertThat(this.values.difference(Object.class, value, other) == null)
				.as("seed %s: %s, %s", seed, value, other)
				.isEqualTo(other.equals(value));
		}
	}

	/**
	 * The order of immutable sets and maps, and the hash of enums, differ between JVMs.
	 */
	@Test
	void encodesAlikeInAnotherJvm() throws Exception {
		Process other = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), RandomValues.class.getName(),
				"1000")
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		String digest = new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(other.waitFor()).isZero();
		assertThat(digest).isEqualTo(RandomValues.digest(1_000));
	}

	private String encode(Object value) {
		return HexFormat.of().formatHex(this.values.encode(Object.class, value, OmittedMembers.NONE));
	}

}
