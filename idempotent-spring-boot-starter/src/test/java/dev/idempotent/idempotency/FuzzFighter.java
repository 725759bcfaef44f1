package dev.idempotent.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One of many claimants of a few keys. Acts at random, each time with a new token and
 * sometimes with an expired one.
 */
final class FuzzFighter {

	private static final Duration LONG = Duration.ofMinutes(10);

	private static final List<String> REQUESTS = List.of("first", "second");

	private final IdempotencyStore store;

	private final String name;

	private final Random random;

	private String token;

	private int attempts;

	FuzzFighter(IdempotencyStore store, String name, int seed) {
		this.store = store;
		this.name = name;
		this.random = new Random(seed);
		this.token = name;
	}

	void attempt(FoughtOverKey fought) {
		meddleByChance(fought);
		this.token = this.name + "/" + this.attempts++;
		String request = REQUESTS.get(this.random.nextInt(REQUESTS.size()));
		Claim claim = claim(fought, request);
		if (claim instanceof Claim.Acquired) {
			fought.isGrantedTo(this.token);
			hold(fought, request);
			settle(fought, request);
		}
		else if (claim instanceof Claim.Completed completed) {
			fought.isSeenCompleted(request, completed.response());
		}
	}

	private void meddleByChance(FoughtOverKey fought) {
		if (this.random.nextInt(4) == 0) {
			meddle(fought);
		}
	}

	/**
	 * Attempts what only an owner may do, with a token that no longer or never owned the
	 * key.
	 */
	private void meddle(FoughtOverKey fought) {
		switch (this.random.nextInt(16)) {
			case 0 -> {
				StoredResponse response = response("first");
				if (this.store.complete(fought.key(), Samples.fingerprint("first"), this.token, response, LONG)) {
					fought.isCompletedByAStranger(this.token, response);
				}
			}
			case 1, 2, 3, 4, 5, 6 -> assertThat(this.store.renew(fought.key(), this.token, LONG)).isFalse();
			default -> this.store.release(fought.key(), this.token);
		}
	}

	private void hold(FoughtOverKey fought, String request) {
		for (int i = this.random.nextInt(3); i > 0; i--) {
			assertThat(this.store.renew(fought.key(), this.token, LONG)).isTrue();
			assertThat(claim(fought, request)).isEqualTo(new Claim.Acquired());
		}
	}

	private void settle(FoughtOverKey fought, String request) {
		if (this.random.nextInt(40) == 0) {
			StoredResponse response = response(request);
			assertThat(this.store.complete(fought.key(), Samples.fingerprint(request), this.token, response, LONG))
				.isTrue();
			fought.isCompletedByItsOwner(response);
		}
		else {
			fought.isGivenUpBy(this.token);
			assertThat(this.store.release(fought.key(), this.token)).isTrue();
			meddleByChance(fought);
		}
	}

	private Claim claim(FoughtOverKey fought, String request) {
		return this.store.claim(fought.key(), Samples.fingerprint(request), this.token, LONG);
	}

	private StoredResponse response(String request) {
		return Samples.response(request + " by " + this.token);
	}

}
