package dev.idempotent.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every store for concurrent claimants. Part of
 * {@link IdempotencyStoreContract}.
 */
interface IdempotencyStoreRaces {

	int KEYS = 40;

	Duration LEASE = Duration.ofMinutes(1);

	Fingerprint REQUEST = Samples.fingerprint("request");

	/**
	 * The store under test, empty or not.
	 * @return the same store during one test
	 */
	IdempotencyStore store();

	@Test
	default void grantsAKeyToOneOfManyConcurrentClaims() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = Samples.key();
			List<Claim> claims = Race.of(32, (runner) -> store().claim(key, REQUEST, "token " + runner, LEASE));
			assertThat(claims).filteredOn(Claim.Acquired.class::isInstance).hasSize(1);
			assertThat(claims).filteredOn(Claim.Pending.class::isInstance).hasSize(31);
		}
	}

	@Test
	default void grantsAReleasedKeyToOneOfManyConcurrentClaims() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = Samples.key();
			store().claim(key, REQUEST, "token 0", LEASE);
			AtomicInteger granted = new AtomicInteger();
			List<Boolean> released = Race.of(8, (runner) -> {
				if (runner == 0) {
					return store().release(key, "token 0");
				}
				claimUntilGranted(key, "token " + runner, granted);
				return false;
			});
			assertThat(released).element(0).isEqualTo(true);
			assertThat(granted).hasValue(1);
		}
	}

	@Test
	default void keepsOneOfManyConcurrentResponsesOfAnAbsentKey() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = Samples.key();
			List<Boolean> kept = Race.of(16, (runner) -> store().complete(key, REQUEST, "token " + runner,
					Samples.response("response " + runner), LEASE));
			assertThat(kept).containsOnlyOnce(true);
			assertThat(store().claim(key, REQUEST, "late", LEASE))
				.is(Samples.completed(Samples.response("response " + kept.indexOf(true))));
		}
	}

	@Test
	default void reportsAKeyAsPendingAndThenCompletedToConcurrentClaims() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = Samples.key();
			StoredResponse response = Samples.response("response " + i);
			store().claim(key, REQUEST, "token 0", LEASE);
			List<List<Claim>> seen = Race.of(8, (runner) -> {
				if (runner == 0) {
					assertThat(store().complete(key, REQUEST, "token 0", response, LEASE)).isTrue();
				}
				return claimUntilCompleted(key, "token " + runner);
			});
			assertThat(seen).allSatisfy((claims) -> {
				assertThat(claims).element(claims.size() - 1).is(Samples.completed(response));
				assertThat(claims.subList(0, claims.size() - 1)).allMatch(Claim.Pending.class::isInstance);
			});
		}
	}

	private void claimUntilGranted(IdempotencyKey key, String token, AtomicInteger granted) {
		do {
			if (store().claim(key, REQUEST, token, LEASE) instanceof Claim.Acquired) {
				granted.incrementAndGet();
			}
		}
		while (granted.get() == 0);
	}

	private List<Claim> claimUntilCompleted(IdempotencyKey key, String token) {
		List<Claim> claims = new ArrayList<>();
		do {
			claims.add(store().claim(key, REQUEST, token, LEASE));
		}
		while (claims.get(claims.size() - 1) instanceof Claim.Pending);
		return claims;
	}

}
