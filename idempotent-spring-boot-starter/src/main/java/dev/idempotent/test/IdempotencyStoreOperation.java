package dev.idempotent.test;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of a store for operators, who look keys up and delete them. A store may
 * leave either out: its tests are then aborted. Part of {@link IdempotencyStoreContract}.
 */
interface IdempotencyStoreOperation {

	Duration LEASE = Duration.ofMinutes(1);

	Duration RETENTION = Duration.ofMinutes(5);

	Fingerprint WORK = Samples.fingerprint("work");

	StoredResponse ANSWER = Samples.response("answer");

	/**
	 * The store under test, empty or not.
	 * @return the same store during one test
	 */
	IdempotencyStore store();

	@Test
	default void findsNoAbsentKey() {
		IdempotencyKey key = Samples.key();
		assertThat(find(key)).isNull();
		store().claim(key, WORK, "owner", LEASE);
		store().release(key, "owner");
		assertThat(find(key)).isNull();
	}

	@Test
	default void findsAPendingKeyWithItsOwner() {
		IdempotencyKey key = Samples.key();
		store().claim(key, WORK, "owner", LEASE);
		StoredKey found = Objects.requireNonNull(find(key));
		assertThat(found.state()).isEqualTo(StoredKey.State.PENDING);
		assertThat(found.token()).isEqualTo("owner");
		assertThat(found.remaining()).isPositive().isLessThanOrEqualTo(LEASE);
		assertThat(found.response()).isNull();
	}

	@Test
	default void findsACompletedKeyWithItsResponse() {
		IdempotencyKey key = Samples.key();
		store().claim(key, WORK, "owner", LEASE);
		store().complete(key, WORK, "owner", ANSWER, RETENTION);
		StoredKey found = Objects.requireNonNull(find(key));
		assertThat(found.state()).isEqualTo(StoredKey.State.COMPLETED);
		assertThat(found.token()).isEqualTo("owner");
		assertThat(found.remaining()).isGreaterThan(LEASE).isLessThanOrEqualTo(RETENTION);
		assertThat(found.response()).isEqualTo(ANSWER);
	}

	@Test
	default void findsNoExpiredKey() {
		IdempotencyKey key = Samples.key();
		store().claim(key, WORK, "owner", Duration.ofMillis(20));
		await().until(() -> find(key) == null);
		store().complete(key, WORK, "rival", ANSWER, Duration.ofMillis(20));
		await().until(() -> find(key) == null);
		assertThat(forget(key, "third")).isTrue();
	}

	@Test
	default void leavesAKeyUnchangedThatItFinds() {
		IdempotencyKey key = Samples.key();
		find(key);
		assertThat(store().claim(key, WORK, "owner", LEASE)).isEqualTo(new Claim.Acquired());
		find(key);
		assertThat(store().renew(key, "owner", LEASE)).isTrue();
	}

	@Test
	default void forgetsACompletedKeyRepeatedly() {
		IdempotencyKey key = Samples.key();
		store().complete(key, WORK, "owner", ANSWER, RETENTION);
		assertThat(forget(key, "owner")).isTrue();
		assertThat(forget(key, "owner")).isTrue();
		assertThat(store().claim(key, WORK, "rival", LEASE)).isEqualTo(new Claim.Acquired());
	}

	@Test
	default void neverForgetsAKeyThatAnotherTokenHasCompleted() {
		IdempotencyKey key = Samples.key();
		store().complete(key, WORK, "owner", ANSWER, RETENTION);
		assertThat(forget(key, "rival")).isFalse();
		assertThat(store().claim(key, WORK, "rival", LEASE)).is(Samples.completed(ANSWER));
	}

	@Test
	default void neverForgetsAPendingKey() {
		IdempotencyKey key = Samples.key();
		store().claim(key, WORK, "owner", LEASE);
		assertThat(forget(key, "owner")).isFalse();
		assertThat(forget(key, "rival")).isFalse();
		assertThat(store().renew(key, "owner", LEASE)).isTrue();
	}

	@Test
	default void releasesAFoundKeyUnlessItWasTakenOver() {
		IdempotencyKey key = Samples.key();
		store().claim(key, WORK, "owner", LEASE);
		StoredKey found = Objects.requireNonNull(find(key));
		store().release(key, "owner");
		store().claim(key, WORK, "rival", LEASE);
		assertThat(store().release(key, found.token())).isFalse();
		assertThat(store().renew(key, "rival", LEASE)).isTrue();
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
