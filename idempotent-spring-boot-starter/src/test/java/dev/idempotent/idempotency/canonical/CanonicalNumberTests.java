package dev.idempotent.idempotency.canonical;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the numbers of {@link CanonicalJson}.
 */
class CanonicalNumberTests {

	private static final int NUMBERS_PER_SEED = 1_000;

	@ParameterizedTest
	@CsvSource(textBlock = """
			0000000000000000, 0
			0000000000000001, 5e-324
			8000000000000001, -5e-324
			7fefffffffffffff, 1.7976931348623157e+308
			ffefffffffffffff, -1.7976931348623157e+308
			4340000000000000, 9007199254740992
			c340000000000000, -9007199254740992
			4430000000000000, 295147905179352830000
			44b52d02c7e14af5, 9.999999999999997e+22
			44b52d02c7e14af6, 1e+23
			44b52d02c7e14af7, 1.0000000000000001e+23
			444b1ae4d6e2ef4e, 999999999999999700000
			444b1ae4d6e2ef4f, 999999999999999900000
			444b1ae4d6e2ef50, 1e+21
			3eb0c6f7a0b5ed8c, 9.999999999999997e-7
			3eb0c6f7a0b5ed8d, 0.000001
			41b3de4355555553, 333333333.3333332
			41b3de4355555554, 333333333.33333325
			41b3de4355555555, 333333333.3333333
			41b3de4355555556, 333333333.3333334
			41b3de4355555557, 333333333.33333343
			becbf647612f3696, -0.0000033333333333333333
			43143ff3c1cb0959, 1424953923781206.2
			""")
	void agreesWithTheNumbersOfRfc8785(String bits, String expected) {
		assertThat(Double.doubleToLongBits(Double.parseDouble(expected))).isEqualTo(Long.parseUnsignedLong(bits, 16));
		BigDecimal value = new BigDecimal(expected);
		assertThat(canonical(expected)).isEqualTo(expected);
		assertThat(canonical(value.toPlainString())).isEqualTo(expected);
		assertThat(canonical(value.unscaledValue().multiply(BigInteger.valueOf(100)) + "E" + (-value.scale() - 2)))
			.isEqualTo(expected);
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			-0, 0
			-0.00e99999999999999999999, 0
			1.0, 1
			10e-1, 1
			0.001e+0003, 1
			-12.50, -12.5
			123456789012345678901, 123456789012345678901
			1234567890123456789012, 1.234567890123456789012e+21
			0.0000001, 1e-7
			0.00000123, 0.00000123
			9007199254740993, 9007199254740993
			1e999999999, 1e+999999999
			10E-1000000000, 1e-999999999
			-1e-99999999999999999999, -1e-99999999999999999999
			12.3e99999999999999999999, 1.23e+100000000000000000000
			""")
	void keepsTheExactValue(String number, String expected) {
		assertThat(canonical(number)).isEqualTo(expected);
		assertThat(canonical(expected)).isEqualTo(expected);
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 })
	void areEqualIfAndOnlyIfTheirValuesAre(long seed) {
		RandomJson random = new RandomJson(seed);
		for (int i = 0; i < NUMBERS_PER_SEED; i++) {
			BigDecimal one = random.number();
			BigDecimal other = random.similarNumber(one);
			String text = random.spelling(one);
			assertThat(new BigDecimal(canonical(text))).as(text).isEqualByComparingTo(one);
			assertThat(canonical(text).equals(canonical(random.spelling(other)))).as("%s and %s", one, other)
				.isEqualTo(one.compareTo(other) == 0);
		}
	}

	private static String canonical(String number) {
		return Objects.requireNonNull(CanonicalJson.of(number.getBytes(StandardCharsets.UTF_8)), number);
	}

}
