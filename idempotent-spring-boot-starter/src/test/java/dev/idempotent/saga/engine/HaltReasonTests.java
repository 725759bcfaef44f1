package dev.idempotent.saga.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests for {@link HaltReason}.
 */
class HaltReasonTests {

	@ParameterizedTest
	@EnumSource
	void isRecognizedByItsText(HaltReason reason) {
		assertThat(HaltReason.of(reason.text(Collections.nCopies(4, "x").toArray()))).isEqualTo(reason);
		assertThat(reason.action()).endsWith(".");
	}

	/**
	 * The texts of the first version that had no constants for them.
	 */
	static Stream<Arguments> stored() {
		return Stream.of(
				arguments(HaltReason.UNDO_FAILED,
						"The step 'hold' could not be undone: The goods have left the warehouse"),
				arguments(HaltReason.NO_PROOF,
						"The step 'hold' could not be undone: java.lang.IllegalStateException (404). The response lacks "
								+ "what proves that the service has sent it, and not a gateway: a participant with "
								+ "@Cancels sends the header Idempotency-Receipt; for another service, name the proof "
								+ "with provenBy"),
				arguments(HaltReason.ACTION_UNKNOWN,
						"The step 'hold' could not be undone: "
								+ "org.springframework.web.client.HttpClientErrorException (422 action-unknown)"),
				arguments(HaltReason.UNDO_FAILED,
						"The step 'ship' could not be undone: The carrier answered action-unknown at depot 4, and by 17:00, "
								+ "the stored saga has no arguments"),
				arguments(HaltReason.CALLED_AT_MOST_ONCE,
						"The outcome of the step 'charge' is unknown: java.io.IOException. It is called at most once, so "
								+ "it is not repeated. Find out at the service whether it has done the action. If it has "
								+ "not, retry the saga: the action is called again. Otherwise abort the saga, and undo "
								+ "the action by hand"),
				arguments(HaltReason.OUTCOME_UNKNOWN,
						"The outcome of the step 'charge' is unknown: java.io.IOException"),
				arguments(HaltReason.TIME_LIMIT,
						"The outcome of the step 'charge' is unknown: it has taken longer than its time limit (PT5M)"),
				arguments(HaltReason.KEY_EXPIRED,
						"The outcome of the step 'charge' is unknown, and its key is older than "
								+ "idempotent.saga.participant-retention (PT24H)"),
				arguments(HaltReason.NESTED_USE,
						"The step 'inner' is used within another step: use steps and sagas one after another"),
				arguments(HaltReason.SECOND_CALL,
						"The step 'pay' has tried to make a second call under its key, or to repeat its call with another "
								+ "target, method, path, query or body. That was not sent. Make each call in a step of "
								+ "its own"),
				arguments(HaltReason.OTHER_STEP,
						"The saga's method runs the step 'pay-3' in place of the recorded step 'pay-1'"),
				arguments(HaltReason.STEP_NOT_REACHED,
						"The saga's method does not reach the step 'pay' in this version of the application, so the step "
								+ "cannot be undone"),
				arguments(HaltReason.FAILED_BEFORE_STEP,
						"The saga's method failed with java.lang.NoSuchMethodError before its recorded step 'pay'"),
				arguments(HaltReason.CLASS_MISSING, "The saga's method failed with java.lang.NoClassDefFoundError"),
				arguments(HaltReason.VALUE_NOT_DECRYPTED,
						"The stored arguments cannot be decrypted: the cipher has failed"),
				arguments(HaltReason.ATTEMPTS_USED_UP, "org.springframework.dao.DataAccessResourceFailureException"));
	}

	@ParameterizedTest
	@MethodSource("stored")
	void isRecognizedByTheTextThatAnEarlierVersionHasStored(HaltReason reason, String text) {
		assertThat(HaltReason.of(text)).isEqualTo(reason);
	}

	@Test
	void isTheOnlySourceOfTheTextsForWhichSagasAreHalted() throws IOException {
		try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/idempotent/saga/engine"))) {
			assertThat(files).hasSizeGreaterThan(10)
				.allSatisfy((file) -> assertThat(Files.readString(file)).doesNotContainPattern(
						"Cause\\.(?:HALT|INCOMPATIBLE|EXPIRED),\\s*\"|UnreadableException\\(\\s*\"The (?:stored|format)"));
		}
	}

	@Test
	void isTheLastOneForATextThatIsUnknown() {
		assertThat(HaltReason.of(null)).isEqualTo(HaltReason.ATTEMPTS_USED_UP);
		assertThat(HaltReason.of("")).isEqualTo(HaltReason.ATTEMPTS_USED_UP);
	}

}
