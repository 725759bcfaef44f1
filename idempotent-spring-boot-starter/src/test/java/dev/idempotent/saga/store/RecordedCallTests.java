package dev.idempotent.saga.store;

import java.util.stream.Stream;

import dev.idempotent.saga.store.RecordedCall.AtMostOnce;
import dev.idempotent.saga.store.RecordedCall.Made;
import dev.idempotent.saga.store.RecordedCall.NotMade;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

class RecordedCallTests {

	private static final String DIGEST = "0123456789abcdef".repeat(4);

	/**
	 * These texts are stored, so that other versions can read them.
	 */
	private static Stream<Arguments> texts() {
		String identity = "payments " + DIGEST + " 3 " + DIGEST;
		return Stream.of(arguments("once", AtMostOnce.BEGUN), arguments("once reported", AtMostOnce.REPORTED),
				arguments("once retried", AtMostOnce.RETRIED), arguments("none 0", new NotMade(0)),
				arguments("none 9223372036854775807", new NotMade(Long.MAX_VALUE)),
				arguments(identity, new Made(identity)));
	}

	@ParameterizedTest
	@MethodSource("texts")
	void areStoredAsTexts(String text, RecordedCall call) {
		assertThat(call.text()).isEqualTo(text);
		assertThat(RecordedCall.of(text)).isEqualTo(call);
	}

	@Test
	void areNotReadWithoutAText() {
		assertThat(RecordedCall.of(null)).isNull();
	}

	@ParameterizedTest
	@MethodSource("namesOfStates")
	void areCallsIfTheirTargetHasTheNameOfAState(String target) {
		String identity = target + " " + DIGEST + " 3 " + DIGEST;
		assertThat(RecordedCall.of(identity)).isEqualTo(new Made(identity));
	}

	private static Stream<String> namesOfStates() {
		return Stream.of("none", "once");
	}

}
