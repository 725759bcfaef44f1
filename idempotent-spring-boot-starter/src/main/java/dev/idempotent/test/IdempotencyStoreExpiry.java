package dev.idempotent.test;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of every store for the end of a lease and of a retention. Part of
 * {@link IdempotencyStoreContract}.
 */
interface IdempotencyStoreExpiry {

	Duration MINUTE = Duration.ofMinutes(1);

	Duration INSTANT = Duration.ofMillis(20);

	Fingerprint REQUEST = Samples.fingerprint("request");

	Fingerprint OTHER_REQUEST = Samples.fingerprint("other request");

	StoredResponse RESPONSE = Samples.response("response");

	/**
	 * The store under test, empty or not.
	 * @return the same store during one test
	 */
	IdempotencyStore store();

	@Test
	default void freesAKeyWhenItsLeaseEnds() {
		IdempotencyKey key = Samples.key();
		store().claim(key, OTHER_REQUEST, "owner", INSTANT);
		await().until(() -> claim(key, "rival").equals(new Claim.Acquired()));
	}

	@Test
	default void freesAKeyWhenItsRetentionEndsEvenIfItsLeaseWasLonger() {
		IdempotencyKey key = Samples.key();
		claim(key, "owner");
		store().complete(key, OTHER_REQUEST, "owner", RESPONSE, INSTANT);
		await().until(() -> claim(key, "rival").equals(new Claim.Acquired()));
	}

	@Test
	default void keepsACompletedKeyBeyondTheEndOfItsLease() {
		IdempotencyKey key = Samples.key();
		store().claim(key, REQUEST, "owner", INSTANT);
		complete(key, "owner");
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	default void keepsTheFirstOfAnOwnersResponsesForItsFirstRetention() {
		IdempotencyKey key = Samples.key();
		complete(key, "owner");
		assertThat(store().complete(key, REQUEST, "owner", Samples.response("second"), INSTANT)).isTrue();
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	default void refusesToRenewACompletedKeyAndLeavesItItsRetention() {
		IdempotencyKey key = Samples.key();
		complete(key, "owner");
		assertThat(store().renew(key, "owner", INSTANT)).isFalse();
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	default void refusesTheOwnerOfAnExpiredLeaseOnceAnotherClaimantOwnsTheKey() {
		IdempotencyKey key = Samples.key();
		store().claim(key, REQUEST, "late", INSTANT);
		await().until(() -> claim(key, "owner").equals(new Claim.Acquired()));
		assertThat(store().renew(key, "late", MINUTE.multipliedBy(2))).isFalse();
		assertThat(complete(key, "late")).isFalse();
		assertThat(store().release(key, "late")).isFalse();
		assertThat(claim(key, "observer")).isInstanceOfSatisfying(Claim.Pending.class,
				(pending) -> assertThat(pending.remainingLease()).isLessThanOrEqualTo(MINUTE));
	}

	@Test
	default void keepsTheLateResponseOfAnExpiredLeaseWhileTheKeyIsFree() {
		IdempotencyKey key = Samples.key();
		store().claim(key, REQUEST, "late", INSTANT);
		await().until(() -> store().release(key, "observer"));
		assertThat(complete(key, "late")).isTrue();
		assertThat(claim(key, "rival")).is(Samples.completed(RESPONSE));
	}

	private Claim claim(IdempotencyKey key, String token) {
		return store().claim(key, REQUEST, token, MINUTE);
	}

	private boolean complete(IdempotencyKey key, String token) {
		return store().complete(key, REQUEST, token, RESPONSE, MINUTE);
	}

	/**
	 * Waits by the store's clock until the lease of a key that is claimed now has
	 * expired.
	 */
	private void awaitTheEndOfALease() {
		IdempotencyKey witness = Samples.key();
		store().claim(witness, REQUEST, "witness", INSTANT);
		await().until(() -> store().release(witness, "observer"));
	}

}
