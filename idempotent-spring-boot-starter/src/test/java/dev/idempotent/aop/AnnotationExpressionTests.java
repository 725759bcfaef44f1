package dev.idempotent.aop;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.EvaluationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link AnnotationExpression} over numbers that a client has chosen. The
 * extreme ones are so large that reckoning with one would end in an
 * {@link ArithmeticException} or take all memory.
 */
class AnnotationExpressionTests {

	private static final BigDecimal HUGE = new BigDecimal("1e2000000000");

	@ParameterizedTest
	@ValueSource(strings = { "#amount + 1", "1 - #amount", "#amount * 2 > 1", "#amount / 3", "3 % #amount",
			"#amount ^ 2", "#order.amount + 1", "#order.amount() + 1", "#order.halved + 1", "#map.amount + 1",
			"#map['amount'] + 1", "#list[0] + 1", "#list.![#this + 1]", "#array[0] + 1", "#nested[0].list[0] + 1",
			"{#order}.![#this.amount + 1]", "-#amount + 1", "#amount > 1 and #amount + 1 > 2" })
	void neverCalculatesWithAnExtremeNumber(String expression) {
		for (BigDecimal extreme : List.of(HUGE, BigDecimal.ONE.movePointLeft(1_001))) {
			assertThatExceptionOfType(EvaluationException.class).isThrownBy(() -> evaluate(expression, extreme))
				.satisfies((ex) -> assertThat(NestedExceptionUtils.getMostSpecificCause(ex))
					.hasMessage("A number has more than 1000 digits before or after its decimal point"));
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', commentCharacter = '~', textBlock = """
			#amount + 1         | 5
			#order.amount() * 2 | 8
			#map['amount'] - 1  | 3
			#list[0] + 1        | 5
			#order.halved + 1   | 3.0
			'a' + #amount       | a4
			""")
	void calculatesWithAllOtherNumbers(String expression, String value) {
		assertThat(evaluate(expression, new BigDecimal("4"))).hasToString(value);
		assertThat(evaluate("#amount + 0", new BigDecimal("4.9e-324"))).hasToString("4.9E-324");
	}

	@Test
	void readsExtremeNumbersWithoutArithmetic() {
		assertThat(evaluate("#order.amount", HUGE)).isEqualTo(HUGE);
		assertThat(evaluate("#amount > 1", HUGE)).isEqualTo(true);
	}

	private static @Nullable Object evaluate(String expression, BigDecimal amount) {
		Map<String, Object> variables = Map.of("amount", amount, "order", new Order(amount), "map",
				Map.of("amount", amount), "list", List.of(amount), "array", new BigDecimal[] { amount }, "nested",
				List.of(Map.of("list", List.of(amount))));
		return AnnotationExpression.parse(expression, variables.keySet()).evaluate(variables);
	}

	public record Order(BigDecimal amount) {

		public BigDecimal getHalved() {
			return this.amount.scaleByPowerOfTen(-1).multiply(BigDecimal.valueOf(5));
		}

	}

}
