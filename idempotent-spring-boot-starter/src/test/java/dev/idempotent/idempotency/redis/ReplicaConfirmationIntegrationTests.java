package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreContract;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Race;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.claim.Claimant;
import dev.idempotent.testing.WatchedRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link ReplicaConfirmation}.
 */
class ReplicaConfirmationIntegrationTests extends IdempotencyStoreContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final Duration CONFIRMATION = Duration.ofSeconds(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	@RegisterExtension
	static final WatchedRedis redis = new WatchedRedis();

	private static IdempotencyRedisConnection connection;

	private static RedisIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		connection = IdempotencyRedisConnection.exclusive(redis.client(), TIMEOUT);
		store = new RedisIdempotencyStore(connection, "replicated:", 1, CONFIRMATION);
	}

	@AfterAll
	static void disconnect() {
		connection.close();
	}

	@AfterEach
	void restoreReplica() throws Exception {
		redis.startReplica();
	}

	@Override
	public IdempotencyStore store() {
		return store;
	}

	@Test
	void reportsAClaimThatNoReplicaConfirmsAsUnknown() throws Exception {
		redis.stopReplica();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::claim)
			.withMessageContaining(this.key.digest())
			.withStackTraceContaining("0 of the 1 replicas that idempotent.redis.wait-replicas requires");
	}

	@Test
	void releasesAnUnconfirmedClaim() throws Exception {
		redis.stopReplica();
		try (IdempotencyGuard guard = new IdempotencyGuard(store, OnStoreFailure.REJECT, MINUTE)) {
			Claimant claimant = guard.claimant(Samples.operation(), this.key, REQUEST, MINUTE, MINUTE);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(claimant::claim);
			redis.startReplica();
			await().untilAsserted(() -> assertThat(claim()).isEqualTo(new Claim.Acquired()));
		}
	}

	@Test
	void reportsAnUnconfirmedCompletionAsUnknownAtEachAttempt() throws Exception {
		claim();
		redis.stopReplica();
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::complete);
		}
		redis.startReplica();
		assertThat(complete()).isTrue();
	}

	@Test
	void waitsForReplicasAgainOnAConnectionThatDidNotWrite() {
		claim();
		redis.stallReplica();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this::complete);
		try (IdempotencyRedisConnection other = IdempotencyRedisConnection.exclusive(redis.client(), TIMEOUT)) {
			RedisIdempotencyStore retrying = new RedisIdempotencyStore(other, "replicated:", 1, CONFIRMATION);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> retrying.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE));
		}
	}

	@Test
	void doesNotWaitForReplicasAfterReads() throws Exception {
		claim();
		redis.stopReplica();
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(store.renew(this.key, "owner", MINUTE)).isTrue();
		assertThat(store.release(this.key, "owner")).isTrue();
	}

	@Test
	void doesNotDelayOtherThreadsWhileOneWaits() throws Exception {
		redis.stopReplica();
		long start = System.nanoTime();
		List<Boolean> refused = Race.of(16, (number) -> {
			try {
				store.claim(Samples.key(), REQUEST, "owner", MINUTE);
				return false;
			}
			catch (IdempotencyStoreUnavailableException ex) {
				return true;
			}
		});
		assertThat(refused).containsOnly(true);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CONFIRMATION.multipliedBy(16));
	}

	private Claim claim() {
		return store.claim(this.key, REQUEST, "owner", MINUTE);
	}

	private boolean complete() {
		return store.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE);
	}

}
