package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ClaimTests {

	private static final List<Claim> OUTCOMES = List.of(new Claim.Acquired(), new Claim.Pending(Duration.ZERO),
			new Claim.Completed(StoredResponse.notKept(), Duration.ZERO), new Claim.Mismatched(null));

	/**
	 * A new outcome needs a branch wherever code decides on a claim.
	 */
	@Test
	void hasTheseOutcomesOnly() {
		assertThat(Claim.class.getPermittedSubclasses())
			.containsExactlyInAnyOrderElementsOf(OUTCOMES.stream().<Class<?>>map(Claim::getClass).toList());
	}

	@Test
	void allowsARunForAnAcquiredKeyOnly() {
		assertThat(OUTCOMES).filteredOn(Claim::isAcquired).containsExactly(new Claim.Acquired());
	}

	@Test
	void tellsAKeyThatIsClaimedFromOneThatIsCompleted() {
		assertThat(OUTCOMES).filteredOn(Claim::isPending).hasOnlyElementsOfType(Claim.Pending.class).hasSize(1);
		assertThat(OUTCOMES).filteredOn(Claim::isCompleted).hasOnlyElementsOfType(Claim.Completed.class).hasSize(1);
	}

}
