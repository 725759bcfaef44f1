package dev.idempotent.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.PendingKeys;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.assertj.core.api.Condition;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of every store, one test for each transition of the state machine of a
 * key. A test of a store extends it. Needs JUnit, AssertJ and Awaitility.
 */
@Timeout(180)
public abstract class IdempotencyStoreContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = fingerprint("request");

	private static final Fingerprint OTHER_REQUEST = fingerprint("other request");

	private static final StoredResponse RESPONSE = response("response");

	private static final RunDescription RUN = new RunDescription("pay", "1@node", false);

	private static final Duration RETENTION = Duration.ofMinutes(5);

	private static final Duration INSTANT = Duration.ofMillis(20);

	/**
	 * How many keys are raced for.
	 */
	private static final int KEYS = 40;

	private final IdempotencyKey key = uniqueKey();

	/**
	 * The store under test, empty or not.
	 * @return the same store during one test
	 */
	public abstract IdempotencyStore store();

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
		assertThat(store().claim(this.key, OTHER_REQUEST, "rival", MINUTE)).isInstanceOfSatisfying(
				Claim.Mismatched.class,
				(mismatched) -> assertThat(mismatched.remainingLease()).isBetween(Duration.ofMillis(1), MINUTE));
		assertThat(claim("rival")).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void refusesAnotherRequestUnderACompletedKey() {
		claim("owner");
		complete("owner", RESPONSE);
		assertThat(store().claim(this.key, OTHER_REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Mismatched(null));
		assertThat(claim("rival")).is(completed(RESPONSE));
	}

	@Test
	void neverComparesFingerprintsOfDifferentVersions() {
		Fingerprint incomparable = new Fingerprint(Fingerprint.CURRENT_VERSION + 1, OTHER_REQUEST.digest());
		claim("owner");
		assertThat(store().claim(this.key, incomparable, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		complete("owner", RESPONSE);
		assertThat(store().claim(this.key, incomparable, "rival", MINUTE)).is(completed(RESPONSE));
	}

	@Test
	void returnsTheResponseOfACompletedKeyToItsOwnerToo() {
		claim("owner");
		complete("owner", RESPONSE);
		assertThat(claim("owner")).is(completed(RESPONSE));
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
		assertThat(claim("rival")).is(completed(StoredResponse.notKept()));
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
		assertThat(complete("rival", response("second"))).isFalse();
		assertThat(claim("third")).is(completed(RESPONSE));
	}

	@Test
	void completesAnAbsentKeyTogetherWithItsFingerprint() {
		assertThat(complete("owner", RESPONSE)).isTrue();
		assertThat(store().claim(this.key, OTHER_REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Mismatched(null));
		assertThat(claim("rival")).is(completed(RESPONSE));
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
		assertThat(claim("rival")).is(completed(RESPONSE));
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
		IdempotencyKey other = uniqueKey();
		claim("owner");
		assertThat(store().claim(other, OTHER_REQUEST, "other owner", MINUTE)).isEqualTo(new Claim.Acquired());
		complete("owner", RESPONSE);
		assertThat(store().claim(other, OTHER_REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(store().release(other, "other owner")).isTrue();
		assertThat(claim("rival")).is(completed(RESPONSE));
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

	@Test
	void freesAKeyWhenItsLeaseEnds() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, OTHER_REQUEST, "owner", INSTANT);
		await().until(() -> claim(key, "rival").equals(new Claim.Acquired()));
	}

	@Test
	void freesAKeyWhenItsRetentionEndsEvenIfItsLeaseWasLonger() {
		IdempotencyKey key = uniqueKey();
		claim(key, "owner");
		store().complete(key, OTHER_REQUEST, "owner", RESPONSE, INSTANT);
		await().until(() -> claim(key, "rival").equals(new Claim.Acquired()));
	}

	@Test
	void keepsACompletedKeyBeyondTheEndOfItsLease() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "owner", INSTANT);
		complete(key, "owner");
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(completed(RESPONSE));
	}

	@Test
	void keepsTheFirstOfAnOwnersResponsesForTheLongestRetention() {
		IdempotencyKey key = uniqueKey();
		complete(key, "owner");
		assertThat(store().complete(key, REQUEST, "owner", response("second"), INSTANT)).isTrue();
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(completed(RESPONSE));
	}

	@Test
	void keepsAResponseForLongerIfItsOwnerCompletesTheKeyAgain() {
		IdempotencyKey key = uniqueKey();
		assertThat(store().complete(key, REQUEST, "owner", RESPONSE, INSTANT)).isTrue();
		assertThat(store().complete(key, REQUEST, "owner", RESPONSE, MINUTE)).isTrue();
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(completed(RESPONSE));
		assertThat(store().complete(key, REQUEST, "rival", response("second"), MINUTE)).isFalse();
	}

	@Test
	void refusesToRenewACompletedKeyAndLeavesItItsRetention() {
		IdempotencyKey key = uniqueKey();
		complete(key, "owner");
		assertThat(store().renew(key, "owner", INSTANT)).isFalse();
		awaitTheEndOfALease();
		assertThat(claim(key, "rival")).is(completed(RESPONSE));
	}

	@Test
	void refusesTheOwnerOfAnExpiredLeaseOnceAnotherClaimantOwnsTheKey() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "late", INSTANT);
		await().until(() -> claim(key, "owner").equals(new Claim.Acquired()));
		assertThat(store().renew(key, "late", MINUTE.multipliedBy(2))).isFalse();
		assertThat(complete(key, "late")).isFalse();
		assertThat(store().release(key, "late")).isFalse();
		assertThat(claim(key, "observer")).isInstanceOfSatisfying(Claim.Pending.class,
				(pending) -> assertThat(pending.remainingLease()).isLessThanOrEqualTo(MINUTE));
	}

	@Test
	void keepsTheLateResponseOfAnExpiredLeaseWhileTheKeyIsFree() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "late", INSTANT);
		await().until(() -> store().release(key, "observer"));
		assertThat(complete(key, "late")).isTrue();
		assertThat(claim(key, "rival")).is(completed(RESPONSE));
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
		IdempotencyKey witness = uniqueKey();
		store().claim(witness, REQUEST, "witness", INSTANT);
		await().until(() -> store().release(witness, "observer"));
	}

	@Test
	void grantsAKeyToOneOfManyConcurrentClaims() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = uniqueKey();
			List<Claim> claims = Race.of(32, (runner) -> store().claim(key, REQUEST, "token " + runner, MINUTE));
			assertThat(claims).filteredOn(Claim.Acquired.class::isInstance).hasSize(1);
			assertThat(claims).filteredOn(Claim.Pending.class::isInstance).hasSize(31);
		}
	}

	@Test
	void grantsAReleasedKeyToOneOfManyConcurrentClaims() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = uniqueKey();
			store().claim(key, REQUEST, "token 0", MINUTE);
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
	void keepsOneOfManyConcurrentResponsesOfAnAbsentKey() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = uniqueKey();
			List<Boolean> kept = Race.of(16, (runner) -> store().complete(key, REQUEST, "token " + runner,
					response("response " + runner), MINUTE));
			assertThat(kept).containsOnlyOnce(true);
			assertThat(store().claim(key, REQUEST, "late", MINUTE))
				.is(completed(response("response " + kept.indexOf(true))));
		}
	}

	@Test
	void reportsAKeyAsPendingAndThenCompletedToConcurrentClaims() throws InterruptedException {
		for (int i = 0; i < KEYS; i++) {
			IdempotencyKey key = uniqueKey();
			StoredResponse response = response("response " + i);
			store().claim(key, REQUEST, "token 0", MINUTE);
			List<List<Claim>> seen = Race.of(8, (runner) -> {
				if (runner == 0) {
					assertThat(store().complete(key, REQUEST, "token 0", response, MINUTE)).isTrue();
				}
				return claimUntilCompleted(key, "token " + runner);
			});
			assertThat(seen).allSatisfy((claims) -> {
				assertThat(claims).element(claims.size() - 1).is(completed(response));
				assertThat(claims.subList(0, claims.size() - 1)).allMatch(Claim.Pending.class::isInstance);
			});
		}
	}

	private void claimUntilGranted(IdempotencyKey key, String token, AtomicInteger granted) {
		do {
			if (store().claim(key, REQUEST, token, MINUTE) instanceof Claim.Acquired) {
				granted.incrementAndGet();
			}
		}
		while (granted.get() == 0);
	}

	private List<Claim> claimUntilCompleted(IdempotencyKey key, String token) {
		List<Claim> claims = new ArrayList<>();
		do {
			claims.add(store().claim(key, REQUEST, token, MINUTE));
		}
		while (claims.get(claims.size() - 1) instanceof Claim.Pending);
		return claims;
	}

	@Test
	void findsNoAbsentKey() {
		IdempotencyKey key = uniqueKey();
		assertThat(find(key)).isNull();
		store().claim(key, REQUEST, "owner", MINUTE);
		store().release(key, "owner");
		assertThat(find(key)).isNull();
	}

	@Test
	void findsAPendingKeyWithItsOwner() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "owner", MINUTE);
		StoredKey found = Objects.requireNonNull(find(key));
		assertThat(found.state()).isEqualTo(StoredKey.State.PENDING);
		assertThat(found.token()).isEqualTo("owner");
		assertThat(found.remaining()).isPositive().isLessThanOrEqualTo(MINUTE);
		assertThat(found.response()).isNull();
	}

	@Test
	void findsACompletedKeyWithItsResponse() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "owner", MINUTE);
		store().complete(key, REQUEST, "owner", RESPONSE, RETENTION);
		StoredKey found = Objects.requireNonNull(find(key));
		assertThat(found.state()).isEqualTo(StoredKey.State.COMPLETED);
		assertThat(found.token()).isEqualTo("owner");
		assertThat(found.remaining()).isGreaterThan(MINUTE).isLessThanOrEqualTo(RETENTION);
		assertThat(found.response()).isEqualTo(RESPONSE);
	}

	@Test
	void findsNoExpiredKey() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "owner", Duration.ofMillis(20));
		await().until(() -> find(key) == null);
		store().complete(key, REQUEST, "rival", RESPONSE, Duration.ofMillis(20));
		await().until(() -> find(key) == null);
		assertThat(forget(key, "third")).isTrue();
	}

	@Test
	void leavesAKeyUnchangedThatItFinds() {
		IdempotencyKey key = uniqueKey();
		find(key);
		assertThat(store().claim(key, REQUEST, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
		find(key);
		assertThat(store().renew(key, "owner", MINUTE)).isTrue();
	}

	@Test
	void forgetsACompletedKeyRepeatedly() {
		IdempotencyKey key = uniqueKey();
		store().complete(key, REQUEST, "owner", RESPONSE, RETENTION);
		assertThat(forget(key, "owner")).isTrue();
		assertThat(forget(key, "owner")).isTrue();
		assertThat(store().claim(key, REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
	}

	@Test
	void neverForgetsAKeyThatAnotherTokenHasCompleted() {
		IdempotencyKey key = uniqueKey();
		store().complete(key, REQUEST, "owner", RESPONSE, RETENTION);
		assertThat(forget(key, "rival")).isFalse();
		assertThat(store().claim(key, REQUEST, "rival", MINUTE)).is(completed(RESPONSE));
	}

	@Test
	void neverForgetsAPendingKey() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "owner", MINUTE);
		assertThat(forget(key, "owner")).isFalse();
		assertThat(forget(key, "rival")).isFalse();
		assertThat(store().renew(key, "owner", MINUTE)).isTrue();
	}

	@Test
	void releasesAFoundKeyUnlessItWasTakenOver() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "owner", MINUTE);
		StoredKey found = Objects.requireNonNull(find(key));
		store().release(key, "owner");
		store().claim(key, REQUEST, "rival", MINUTE);
		assertThat(store().release(key, found.token())).isFalse();
		assertThat(store().renew(key, "rival", MINUTE)).isTrue();
	}

	@Test
	void keepsWhatRunsUnderAKeyUntilItIsCompleted() {
		IdempotencyKey key = uniqueKey();
		RunDescription longer = new RunDescription("an operation with a longer name", "1@another node", false);
		assertThat(store().claim(key, REQUEST, "owner", MINUTE, RUN)).isEqualTo(new Claim.Acquired());
		assumeThat(Objects.requireNonNull(find(key)).run()).isNotNull();
		assertThat(store().claim(key, REQUEST, "rival", MINUTE, longer)).isInstanceOf(Claim.Pending.class);
		assertThat(store().claim(key, OTHER_REQUEST, "rival", MINUTE, longer)).isInstanceOf(Claim.Mismatched.class);
		assertThat(store().claim(key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(store().claim(key, OTHER_REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Mismatched.class);
		assertThat(store().claim(key, REQUEST, "owner", MINUTE, RUN)).isEqualTo(new Claim.Acquired());
		assertThat(store().renew(key, "owner", MINUTE)).isTrue();
		assertThat(Objects.requireNonNull(find(key)).run()).isEqualTo(RUN);
		assertThat(complete(key, "owner")).isTrue();
		assertThat(Objects.requireNonNull(find(key)).run()).isNull();
		assertThat(store().claim(key, REQUEST, "rival", MINUTE, longer)).is(completed(RESPONSE));
		assertThat(store().claim(key, OTHER_REQUEST, "rival", MINUTE, longer)).isEqualTo(new Claim.Mismatched(null));
	}

	@Test
	void readsAClaimWithoutADescription() {
		IdempotencyKey key = uniqueKey();
		claim(key, "owner");
		assertThat(Objects.requireNonNull(find(key)).run()).isNull();
		assertThat(store().claim(key, REQUEST, "rival", MINUTE, RUN)).isInstanceOf(Claim.Pending.class);
		assertThat(store().claim(key, OTHER_REQUEST, "rival", MINUTE, RUN)).isInstanceOf(Claim.Mismatched.class);
		assertThat(listed(key, MINUTE)).isNotNull().extracting(StoredKey::run).isNull();
		assertThat(complete(key, "owner")).isTrue();
	}

	@Test
	void describesTheClaimThatHasTakenAKeyOver() {
		IdempotencyKey key = uniqueKey();
		store().claim(key, REQUEST, "gone", INSTANT, RUN);
		RunDescription successor = new RunDescription("place", "2@node", true);
		await().until(() -> store().claim(key, REQUEST, "owner", MINUTE, successor).isAcquired());
		assumeThat(Objects.requireNonNull(find(key)).run()).isNotNull();
		assertThat(Objects.requireNonNull(find(key)).run()).isEqualTo(successor);
	}

	@Test
	void listsAKeyWhileAClaimHoldsIt() {
		IdempotencyKey completed = uniqueKey();
		IdempotencyKey released = uniqueKey();
		store().claim(completed, REQUEST, "owner", MINUTE, RUN);
		store().claim(released, REQUEST, "another", MINUTE, RUN);
		StoredKey found = Objects.requireNonNull(listed(completed, MINUTE));
		assertThat(found.state()).isEqualTo(StoredKey.State.PENDING);
		assertThat(found.token()).isEqualTo("owner");
		assertThat(found.remaining()).isPositive().isLessThanOrEqualTo(MINUTE);
		assertThat(found.response()).isNull();
		assertThat(found).isEqualTo(StoredKey.pending("owner", found.remaining(), found.run()));
		assertThat(listed(released, MINUTE)).isNotNull();
		complete(completed, "owner");
		store().release(released, "another");
		assertThat(listed(completed, MINUTE)).isNull();
		assertThat(listed(released, MINUTE)).isNull();
	}

	@Test
	void neverListsAKeyWhoseLeaseHasEnded() {
		IdempotencyKey key = uniqueKey();
		IdempotencyKey witness = uniqueKey();
		store().claim(witness, REQUEST, "owner", MINUTE, RUN);
		store().claim(key, REQUEST, "gone", INSTANT, RUN);
		listed(key, MINUTE);
		awaitTheEndOfALease();
		assertThat(listed(witness, MINUTE)).isNotNull();
		assertThat(listed(key, MINUTE)).isNull();
	}

	@Test
	void tellsWhetherItHasListedEachKey() {
		List<IdempotencyKey> keys = Stream.generate(IdempotencyStoreContract::uniqueKey).limit(3).toList();
		keys.forEach((key) -> store().claim(key, REQUEST, "owner", MINUTE, RUN));
		keys.forEach((key) -> listed(key, MINUTE));
		PendingKeys two = Objects.requireNonNull(store().findPending(2));
		assertThat(two.keys()).hasSizeLessThanOrEqualTo(2);
		assertThat(two.within()).isNotNull();
		assertThat(Objects.requireNonNull(store().findPending(10_000)).keys()).containsKeys(keys.get(0), keys.get(1),
				keys.get(2));
	}

	/**
	 * Announces a key, and looks for it in the list.
	 */
	private @Nullable StoredKey listed(IdempotencyKey key, Duration lease) {
		store().announce(Map.of(key, lease));
		PendingKeys pending = store().findPending(10_000);
		assumeThat(pending).isNotNull();
		return Objects.requireNonNull(pending).keys().get(key);
	}

	static IdempotencyKey uniqueKey() {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "contract", "", "", UUID.randomUUID().toString());
	}

	static Fingerprint fingerprint(String request) {
		return Fingerprint.of(List.of(request.getBytes(StandardCharsets.UTF_8)));
	}

	private static StoredResponse response(String text) {
		return StoredResponse.of(text.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Matches the outcome of a claim on a key with this response, regardless of its
	 * retention.
	 */
	private static Condition<Claim> completed(StoredResponse response) {
		return new Condition<>(
				(claim) -> claim instanceof Claim.Completed completed && completed.response().equals(response),
				"completed with %s", response);
	}

	private @Nullable StoredKey find(IdempotencyKey key) {
		return supported(() -> store().find(key));
	}

	private boolean forget(IdempotencyKey key, String token) {
		return supported(() -> store().forget(key, token));
	}

	private static <T extends @Nullable Object> T supported(Supplier<T> step) {
		try {
			return step.get();
		}
		catch (UnsupportedOperationException ex) {
			throw new TestAbortedException(ex.getMessage(), ex);
		}
	}

}
