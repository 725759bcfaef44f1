package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.engine.RunIdentity;
import dev.idempotent.idempotency.engine.Claimant;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.ConcurrentRuns;
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
 * Tests for {@link IdempotencyRedisConnection#confirmed}.
 */
class ReplicaConfirmationIntegrationTests extends IdempotencyStoreContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	/**
	 * As long as a replica of a busy machine may take.
	 */
	private static final Duration CONFIRMATION = Duration.ofSeconds(30);

	private static final Duration SHORT_CONFIRMATION = Duration.ofSeconds(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	@RegisterExtension
	static final WatchedRedis redis = new WatchedRedis();

	private static IdempotencyRedisConnection connection;

	private static IdempotencyRedisConnection hastyConnection;

	private static RedisIdempotencyStore store;

	/**
	 * For outages of the replica.
	 */
	private static RedisIdempotencyStore hasty;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		connection = IdempotencyRedisConnection.confirmed(redis.client(), TIMEOUT, 1, CONFIRMATION);
		store = new RedisIdempotencyStore(connection, "replicated:");
		hastyConnection = IdempotencyRedisConnection.confirmed(redis.client(), TIMEOUT, 1, SHORT_CONFIRMATION);
		hasty = new RedisIdempotencyStore(hastyConnection, "replicated:");
	}

	@AfterAll
	static void disconnect() {
		connection.close();
		hastyConnection.close();
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
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> claim(hasty))
			.withMessageContaining(this.key.digest())
			.withStackTraceContaining("0 of the 1 replicas that idempotent.redis.wait-replicas requires");
	}

	@Test
	void releasesAnUnconfirmedClaim() throws Exception {
		redis.stopReplica();
		try (IdempotencyEngine engine = new IdempotencyEngine(hasty, OnStoreFailure.REJECT, MINUTE)) {
			Claimant claimant = engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, MINUTE), MINUTE);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(claimant::claim);
			redis.startReplica();
			await().untilAsserted(() -> assertThat(claim(store)).isEqualTo(new Claim.Acquired()));
		}
	}

	@Test
	void reportsAnUnconfirmedCompletionAsUnknownAtEachAttempt() throws Exception {
		claim(store);
		redis.stopReplica();
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> complete(hasty));
		}
		redis.startReplica();
		assertThat(complete(store)).isTrue();
	}

	@Test
	void waitsForReplicasAgainOnAConnectionThatDidNotWrite() {
		claim(store);
		redis.stallReplica();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> complete(hasty));
		try (IdempotencyRedisConnection other = IdempotencyRedisConnection.confirmed(redis.client(), TIMEOUT, 1,
				SHORT_CONFIRMATION)) {
			RedisIdempotencyStore retrying = new RedisIdempotencyStore(other, "replicated:");
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> complete(retrying));
		}
	}

	@Test
	void doesNotWaitForReplicasAfterReads() throws Exception {
		claim(store);
		redis.stopReplica();
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
		assertThat(store.renew(this.key, "owner", MINUTE)).isTrue();
		assertThat(store.release(this.key, "owner")).isTrue();
	}

	@Test
	void doesNotDelayOtherThreadsWhileOneWaits() throws Exception {
		redis.stopReplica();
		long start = System.nanoTime();
		List<Boolean> refused = ConcurrentRuns.of(16, (number) -> {
			try {
				hasty.claim(Samples.key(), REQUEST, "owner", MINUTE);
				return false;
			}
			catch (IdempotencyStoreUnavailableException ex) {
				return true;
			}
		});
		assertThat(refused).containsOnly(true);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SHORT_CONFIRMATION.multipliedBy(16));
	}

	private Claim claim(RedisIdempotencyStore asked) {
		return asked.claim(this.key, REQUEST, "owner", MINUTE);
	}

	private boolean complete(RedisIdempotencyStore asked) {
		return asked.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE);
	}

}
