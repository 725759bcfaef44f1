package dev.idempotent.sample.chaos;

import java.time.Duration;
import java.util.Locale;

import dev.idempotent.sample.chaos.ChaosRequest.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ChaosRequestTests {

	@Test
	void readsADelay() {
		assertThat(ChaosRequest.parse("delay=250")).isEqualTo(new ChaosRequest(Duration.ofMillis(250), null, null));
	}

	@Test
	void readsAFailureBeforeTheCommit() {
		assertThat(ChaosRequest.parse("fail=before-commit"))
			.isEqualTo(new ChaosRequest(Duration.ZERO, Failure.BEFORE_COMMIT, null));
	}

	@Test
	void readsAFailureAfterTheCommit() {
		assertThat(ChaosRequest.parse("fail=after-commit"))
			.isEqualTo(new ChaosRequest(Duration.ZERO, Failure.AFTER_COMMIT, null));
	}

	@Test
	void readsAFailureOfHandlers() {
		assertThat(ChaosRequest.parse("fail=handlers"))
			.isEqualTo(new ChaosRequest(Duration.ZERO, Failure.HANDLERS, null));
	}

	@ParameterizedTest
	@EnumSource
	void readsWhenToHalt(Halt halt) {
		String name = halt.name().toLowerCase(Locale.ROOT).replace('_', '-');
		assertThat(ChaosRequest.parse("halt=" + name)).isEqualTo(new ChaosRequest(Duration.ZERO, null, halt));
	}

	@Test
	void readsSeveralFailures() {
		assertThat(ChaosRequest.parse("delay=60000, fail=after-commit"))
			.isEqualTo(new ChaosRequest(Duration.ofMinutes(1), Failure.AFTER_COMMIT, null));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "delay", "delay=", "delay=-1", "delay=soon", "delay=60001",
			"delay=99999999999999999999", "fail=", "fail=later", "fail=in-handler", "halt=", "halt=now",
			"halt=BEFORE_COMMIT", "explode=now", "delay=1,", ",fail=before-commit" })
	void refusesInvalidValues(String header) {
		assertThatExceptionOfType(BadChaosException.class).isThrownBy(() -> ChaosRequest.parse(header));
	}

}
