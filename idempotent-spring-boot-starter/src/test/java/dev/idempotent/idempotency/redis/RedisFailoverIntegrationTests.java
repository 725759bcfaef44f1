package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

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
import dev.idempotent.testing.WatchedRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Idempotency keys across a failover to a replica.
 */
@Timeout(180)
class RedisFailoverIntegrationTests {

	private static final int THREADS = 4;

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private static final Duration LEASE = Duration.ofMinutes(1);

	@RegisterExtension
	static final WatchedRedis redis = new WatchedRedis();

	private final IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(redis.client(),
			TIMEOUT);

	private final IdempotencyStore store = new RedisIdempotencyStore(this.connection, "failover:");

	private final IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT, LEASE);

	private final Map<IdempotencyKey, String> answers = new ConcurrentHashMap<>();

	private final Queue<Duration> waits = new ConcurrentLinkedQueue<>();

	private final AtomicInteger refused = new AtomicInteger();

	private final AtomicBoolean over = new AtomicBoolean();

	@AfterEach
	void close() {
		this.engine.close();
		this.connection.close();
	}

	@Test
	void recoversAfterAFailoverUnderLoadAndNeverReplaysTheResponseOfAnotherKey() throws Exception {
		Map<IdempotencyKey, String> confirmed = completeOnReplicasToo();
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		for (int i = 0; i < THREADS; i++) {
			threads.execute(this::runUntilOver);
		}
		awaitRuns(200);
		redis.killMaster();
		await().until(() -> this.refused.get() > 0);
		awaitRuns(this.answers.size() + 200);
		this.over.set(true);
		threads.shutdown();
		await().until(threads::isTerminated);

		assertThat(this.waits).allSatisfy((wait) -> assertThat(wait).isLessThan(TIMEOUT.multipliedBy(10)));
		assertThat(confirmed).allSatisfy((key, answer) -> assertReplays(claim(key), answer));
		assertThat(this.answers).allSatisfy((key, answer) -> {
			Claim claim = claim(key);
			assertThat(claim).isNotInstanceOf(Claim.Mismatched.class);
			if (claim instanceof Claim.Completed) {
				assertReplays(claim, answer);
			}
		});
	}

	private Map<IdempotencyKey, String> completeOnReplicasToo() {
		Map<IdempotencyKey, String> confirmed = new ConcurrentHashMap<>();
		try (IdempotencyRedisConnection own = IdempotencyRedisConnection.confirmed(redis.client(), LEASE, 1,
				LEASE.dividedBy(2))) {
			IdempotencyStore replicated = new RedisIdempotencyStore(own, "failover:");
			for (int i = 0; i < 100; i++) {
				IdempotencyKey key = Samples.key();
				confirmed.put(key, "confirmed " + i);
				assertThat(replicated.complete(key, request(key), "owner", Samples.response("confirmed " + i), LEASE))
					.isTrue();
			}
		}
		return confirmed;
	}

	private void runUntilOver() {
		while (!this.over.get()) {
			IdempotencyKey key = Samples.key();
			Claimant claimant = this.engine.claimant(Samples.operation(), RunIdentity.of(key, request(key), LEASE),
					LEASE);
			long start = System.nanoTime();
			try {
				claimant.claim();
				String answer = UUID.randomUUID().toString();
				claimant.complete(Samples.response(answer));
				this.answers.put(key, answer);
			}
			catch (IdempotencyStoreUnavailableException ex) {
				this.refused.incrementAndGet();
				LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
			}
			this.waits.add(Duration.ofNanos(System.nanoTime() - start));
		}
	}

	private void awaitRuns(int count) {
		await().until(() -> this.answers.size() >= count);
	}

	private Claim claim(IdempotencyKey key) {
		return await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
			.until(() -> this.store.claim(key, request(key), "retry", LEASE), (claim) -> true);
	}

	private static void assertReplays(Claim claim, String answer) {
		assertThat(claim).is(Samples.completed(Samples.response(answer)));
	}

	private static Fingerprint request(IdempotencyKey key) {
		return Samples.fingerprint("request " + key.digest());
	}

}
