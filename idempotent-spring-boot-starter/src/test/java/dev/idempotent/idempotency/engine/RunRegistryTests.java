package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Samples;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link RunRegistry}.
 */
class RunRegistryTests {

	private final RunRegistry runs = new RunRegistry();

	@Test
	void forgetsRunsThatNeverEnd() {
		RunRegistry.Run current = run();
		this.runs.begin(current);
		for (int i = 0; i < 100; i++) {
			this.runs.begin(run());
		}
		await().until(() -> {
			System.gc();
			return this.runs.count() == 1;
		});
		assertThat(this.runs.of(new IdempotencyContext(current.key(), current.token()))).isSameAs(current);
		this.runs.end(current);
		assertThat(this.runs.count()).isZero();
	}

	private static RunRegistry.Run run() {
		Duration hour = Duration.ofHours(1);
		ClaimRequest request = ClaimRequest.of(Samples.key(), Samples.fingerprint("request"), Guarantee.LEASE, null,
				hour, hour, Samples.run(), null);
		LeasedKey claim = mock();
		given(claim.request()).willReturn(request);
		return new RunRegistry.Run(claim, System.nanoTime());
	}

}
