package dev.idempotent.saga.engine;

import java.util.List;

import dev.idempotent.saga.StepRefusedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.util.Assert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for what operators are told of failures.
 */
class FailureClassifierTests {

	private static final String STATE = "java.lang.IllegalStateException";

	private final FailureClassifier classifier = new FailureClassifier(List.of("dev.idempotent.saga.engine"));

	@Test
	void tellsWhatTheApplicationHasSaid() {
		assertThat(describe(new SeatPrinted("Seat is printed")))
			.isEqualTo(SeatPrinted.class.getName() + ": Seat is printed");
		assertThat(describe(new IllegalStateException("Seat is printed"))).isEqualTo(STATE + ": Seat is printed");
		assertThat(describe(new RuntimeException(new SeatPrinted("Seat is printed"))))
			.isEqualTo("java.lang.RuntimeException: " + SeatPrinted.class.getName() + ": Seat is printed");
		assertThat(describe(new StepRefusedException("no seats"))).isEqualTo("no seats");
		Throwable checked = catchThrowable(() -> Assert.state(List.of().size() > 1, "Seat is printed"));
		assertThat(describe(checked)).isEqualTo(STATE + ": Seat is printed");
	}

	@Test
	void tellsNothingOfWhatLibrariesHaveSaid() {
		Throwable ofLibrary = catchThrowable(() -> Integer.parseInt("secret"));
		assertThat(describe(ofLibrary)).isEqualTo(NumberFormatException.class.getName());
		assertThat(new FailureClassifier().describe(new SeatPrinted("Seat is printed")))
			.isEqualTo(SeatPrinted.class.getName());
		assertThat(new FailureClassifier(List.of("dev.idempotent.saga.eng")).describe(new SeatPrinted("Seat")))
			.isEqualTo(SeatPrinted.class.getName());
	}

	@ParameterizedTest
	@CsvSource({ "Card 4111 1111 1111 1111 declined, Card *** declined",
			"No seat for jane.doe@example.org left, No seat for *** left",
			"GET https://shop.example/orders?token=abc failed, GET *** failed",
			"Key 0d77a9e1-6c0e-4b83-9a35-0d1c9c1f6a77 is used, Key *** is used",
			"Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9 was refused, Bearer ***.*** was refused",
			"Call +49 170 1234567, Call ***", "Order B-17 has 3 seats, Order B-17 has 3 seats" })
	void masksWhatMayBeASecret(String message, String told) {
		assertThat(describe(new IllegalStateException(message))).isEqualTo(STATE + ": " + told);
	}

	@Test
	void tellsTheBeginningOfTheFirstLine() {
		assertThat(describe(new IllegalStateException("Seat is printed\nDetail: row 7")))
			.isEqualTo(STATE + ": Seat is printed");
		assertThat(describe(new IllegalStateException("seat ".repeat(1000)))).hasSize(STATE.length() + 2 + 200);
		assertThat(describe(new IllegalStateException("x ".repeat(97) + "4111111111111111"))).doesNotContain("4111");
		assertThat(describe(new IllegalStateException(" "))).isEqualTo(STATE);
		assertThat(describe(new IllegalStateException() {

			@Override
			public String getMessage() {
				throw new IllegalStateException("no message");
			}

		})).startsWith(getClass().getName());
	}

	private String describe(Throwable failure) {
		return this.classifier.describe(failure);
	}

	/**
	 * Has no stack trace, as exceptions of a domain often have none.
	 */
	private static final class SeatPrinted extends RuntimeException {

		SeatPrinted(String message) {
			super(message, null, false, false);
		}

	}

}
