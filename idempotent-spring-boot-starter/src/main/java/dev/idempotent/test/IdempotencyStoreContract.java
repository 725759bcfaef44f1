package dev.idempotent.test;

import java.time.Duration;
import java.util.Random;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every store, one test for each transition of the state machine of a
 * key. A test of a store extends it. Needs JUnit, AssertJ and Awaitility.
 */
@Timeout(180)
public abstract class IdempotencyStoreContract
		implements IdempotencyStoreExpiry, IdempotencyStoreRaces, IdempotencyStoreOperation {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final Fingerprint OTHER_REQUEST = Samples.fingerprint("other request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final IdempotencyKey key = Samples.key();

	@Test
	void grantsAnAbsentKey() {
		assertThat(claim("owner")).isEqualTo(new Claim.Acquired());
	}

	@Test
	void reportsTheRemainingLeaseToAnotherClaimant() {
		claim("owner");
		assertThat(remainingLease()).isPositive().isLessThanOrEqualTo(MINUTE);
	}

	@Test
	void grantsAPendingKeyToItsOwnerAgainAndRestartsTheLease() {
		claim("owner");
		assertThat(store().claim(this.key, REQUEST, "owner", MINUTE.multipliedBy(2))).isEqualTo(new Claim.Acquired());
		assertThat(remainingLease()).isGreaterThan(MINUTE);
	}

	@Test
	void refusesAnotherRequestUnderAPendingKey() {
		claim("owner");
		assertThat(store().claim(this.key, OTHER_REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Mismatched());
		assertThat(claim("rival")).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void refusesAnotherRequestUnderACompletedKey() {
		claim("owner");
		complete("owner", RESPONSE);
		assertThat(store().claim(this.key, OTHER_REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Mismatched());
		assertThat(claim("rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	void neverComparesFingerprintsOfDifferentVersions() {
		Fingerprint incomparable = new Fingerprint(Fingerprint.CURRENT_VERSION + 1, OTHER_REQUEST.digest());
		claim("owner");
		assertThat(store().claim(this.key, incomparable, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		complete("owner", RESPONSE);
		assertThat(store().claim(this.key, incomparable, "rival", MINUTE)).is(Samples.completed(RESPONSE));
	}

	@Test
	void returnsTheResponseOfACompletedKeyToItsOwnerToo() {
		claim("owner");
		complete("owner", RESPONSE);
		assertThat(claim("owner")).is(Samples.completed(RESPONSE));
	}

	@Test
	void keepsEveryByteOfAResponse() {
		byte[] megabyte = new byte[1024 * 1024];
		new Random(1).nextBytes(megabyte);
		assertThat(complete("owner", StoredResponse.of(megabyte))).isTrue();
		assertThat(claim("rival")).asInstanceOf(InstanceOfAssertFactories.type(Claim.Completed.class))
			.extracting((completed) -> completed.response().bytes())
			.isEqualTo(megabyte);
	}

	@Test
	void keepsTheMarkerOfAResponseThatWasNotKept() {
		claim("owner");
		assertThat(complete("owner", StoredResponse.notKept())).isTrue();
		assertThat(claim("rival")).is(Samples.completed(StoredResponse.notKept()));
	}

	@Test
	void refusesToCompleteAKeyThatAnotherClaimantOwns() {
		claim("owner");
		assertThat(complete("rival", RESPONSE)).isFalse();
		assertThat(claim("third")).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void refusesToCompleteAKeyThatAnotherClaimantHasCompleted() {
		complete("owner", RESPONSE);
		assertThat(complete("rival", Samples.response("second"))).isFalse();
		assertThat(claim("third")).is(Samples.completed(RESPONSE));
	}

	@Test
	void completesAnAbsentKeyTogetherWithItsFingerprint() {
		assertThat(complete("owner", RESPONSE)).isTrue();
		assertThat(store().claim(this.key, OTHER_REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Mismatched());
		assertThat(claim("rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	void releasesAPendingKeyRepeatedlyForItsOwner() {
		claim("owner");
		assertThat(release("owner")).isTrue();
		assertThat(release("owner")).isTrue();
		assertThat(claim("rival")).isEqualTo(new Claim.Acquired());
	}

	@Test
	void refusesToReleaseAKeyThatAnotherClaimantOwns() {
		claim("owner");
		assertThat(release("rival")).isFalse();
		assertThat(claim("third")).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void refusesToReleaseACompletedKeyEvenForItsOwner() {
		complete("owner", RESPONSE);
		assertThat(release("owner")).isFalse();
		assertThat(release("rival")).isFalse();
		assertThat(claim("rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	void restartsTheLeaseWhenItsOwnerRenews() {
		claim("owner");
		assertThat(renew("owner", MINUTE.multipliedBy(2))).isTrue();
		assertThat(remainingLease()).isGreaterThan(MINUTE);
	}

	@Test
	void refusesToRenewAnAbsentKeyAndLeavesItAbsent() {
		assertThat(renew("owner", MINUTE)).isFalse();
		assertThat(claim("rival")).isEqualTo(new Claim.Acquired());
	}

	@Test
	void refusesToRenewAKeyThatAnotherClaimantOwns() {
		claim("owner");
		assertThat(renew("rival", MINUTE.multipliedBy(2))).isFalse();
		assertThat(remainingLease()).isLessThanOrEqualTo(MINUTE);
	}

	@Test
	void keepsKeysApart() {
		IdempotencyKey other = Samples.key();
		claim("owner");
		assertThat(store().claim(other, OTHER_REQUEST, "other owner", MINUTE)).isEqualTo(new Claim.Acquired());
		complete("owner", RESPONSE);
		assertThat(store().claim(other, OTHER_REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(store().release(other, "other owner")).isTrue();
		assertThat(claim("rival")).is(Samples.completed(RESPONSE));
	}

	@Test
	void reportsTheRemainingRetentionOfAResponse() {
		claim("owner");
		store().complete(this.key, REQUEST, "owner", RESPONSE, MINUTE.multipliedBy(2));
		assertThat(store().claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOfSatisfying(Claim.Completed.class,
				(completed) -> assertThat(completed.remainingRetention()).isGreaterThan(MINUTE)
					.isLessThanOrEqualTo(MINUTE.multipliedBy(2)));
	}

	private Claim claim(String token) {
		return store().claim(this.key, REQUEST, token, MINUTE);
	}

	private boolean complete(String token, StoredResponse response) {
		return store().complete(this.key, REQUEST, token, response, MINUTE);
	}

	private boolean release(String token) {
		return store().release(this.key, token);
	}

	private boolean renew(String token, Duration lease) {
		return store().renew(this.key, token, lease);
	}

	private Duration remainingLease() {
		Claim claim = claim("observer");
		assertThat(claim).isInstanceOf(Claim.Pending.class);
		return ((Claim.Pending) claim).remainingLease();
	}

}
