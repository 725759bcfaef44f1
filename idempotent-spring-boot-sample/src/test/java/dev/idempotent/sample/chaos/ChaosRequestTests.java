package dev.idempotent.sample.chaos;

import java.time.Duration;

import dev.idempotent.sample.chaos.ChaosRequest.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ChaosRequestTests {

	@Test
	void readsADelay() {
		assertThat(ChaosRequest.parse("delay=250")).isEqualTo(new ChaosRequest(Duration.ofMillis(250), null));
	}

	@Test
	void readsAFailureBeforeTheCommit() {
		assertThat(ChaosRequest.parse("fail=before-commit"))
			.isEqualTo(new ChaosRequest(Duration.ZERO, Failure.BEFORE_COMMIT));
	}

	@Test
	void readsAFailureAfterTheCommit() {
		assertThat(ChaosRequest.parse("fail=after-commit"))
			.isEqualTo(new ChaosRequest(Duration.ZERO, Failure.AFTER_COMMIT));
	}

	@Test
	void readsSeveralWishes() {
		assertThat(ChaosRequest.parse("delay=60000, fail=after-commit"))
			.isEqualTo(new ChaosRequest(Duration.ofMinutes(1), Failure.AFTER_COMMIT));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "delay", "delay=", "delay=-1", "delay=soon", "delay=60001",
			"delay=99999999999999999999", "fail=", "fail=later", "explode=now", "delay=1,", ",fail=before-commit" })
	void refusesWhatIsNotOnOffer(String header) {
		assertThatExceptionOfType(BadChaosException.class).isThrownBy(() -> ChaosRequest.parse(header));
	}

}
