package dev.idempotent.sample.rush;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LatenciesTests {

	private final Latencies latencies = new Latencies();

	@Test
	void haveNoPercentilesWhenThereAreNone() {
		assertThat(this.latencies.percentile(50)).isZero();
	}

	@Test
	void distinguishTheMedianFromTheSlowest() {
		for (int millis = 1; millis <= 100; millis++) {
			this.latencies.add(Duration.ofMillis(millis));
		}
		assertThat(this.latencies.percentile(50)).isEqualTo(50.1);
		assertThat(this.latencies.percentile(99)).isEqualTo(99.1);
		assertThat(this.latencies.percentile(100)).isEqualTo(100.1);
	}

	@Test
	void countALongerTimeAsTheLongest() {
		this.latencies.add(Duration.ofMinutes(1));
		assertThat(this.latencies.percentile(99)).isEqualTo(10_000);
	}

}
