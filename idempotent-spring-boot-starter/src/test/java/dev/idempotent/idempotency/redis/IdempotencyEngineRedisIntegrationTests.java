package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.RunIdentity;
import dev.idempotent.idempotency.engine.Claimant;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyEngine} on a Redis that forgets, stops and starts.
 */
class IdempotencyEngineRedisIntegrationTests {

	private static final String PREFIX = "engine:";

	private static final Duration LEASE = Duration.ofSeconds(12);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private IdempotencyRedisConnection connection;

	private RedisIdempotencyStore store;

	private IdempotencyEngine engine;

	private final IdempotencyKey key = Samples.key();

	@BeforeEach
	void connect() {
		redis.start();
		this.connection = IdempotencyRedisConnection.withTimeout(redis.connect(), Duration.ofSeconds(10));
		this.store = new RedisIdempotencyStore(this.connection, PREFIX);
		this.engine = engine(this.store);
		awaitThatTheKeyIsFree(true);
	}

	@AfterEach
	void disconnect() {
		this.engine.close();
		this.connection.close();
	}

	@Test
	void restoresTheKeyOfARunAfterRedisHasLostIt() {
		Claimant runner = claimant(LEASE);
		runner.claim();
		redis.flush();
		awaitThatTheKeyIsFree(false);
		assertThat(rivalsClaim()).isInstanceOf(Claim.Pending.class);
		runner.complete(RESPONSE);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void restoresTheKeyOfARunAfterAnOutage() {
		Claimant runner = claimant(LEASE);
		runner.claim();
		redis.stop();
		redis.start();
		awaitThatTheKeyIsFree(false);
		runner.complete(RESPONSE);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void storesTheResponseOfARunWithAnOutageInBetween() {
		Claimant runner = claimant(MINUTE);
		runner.claim();
		redis.stop();
		redis.start();
		runner.complete(RESPONSE);
		awaitThatTheKeyIsFree(false);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void storesTheResponseOfARunThatEndedDuringAnOutage() {
		Claimant runner = claimant(MINUTE);
		runner.claim();
		redis.stop();
		runner.complete(RESPONSE);
		redis.start();
		awaitThatTheKeyIsFree(false);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void runsEachKeyOnceForManyThreads() throws InterruptedException {
		List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(50).toList();
		List<AtomicInteger> runs = Stream.generate(AtomicInteger::new).limit(50).toList();
		IdempotencyEngine crowded = engine(
				new RedisIdempotencyStore(IdempotencyRedisConnection.shared(redis.connect()), PREFIX));
		ConcurrentRuns.of(200, (thread) -> {
			for (int i = 0; i < 50; i++) {
				int number = (thread + i) % 50;
				Claimant claimant = crowded.claimant(Samples.operation(),
						RunIdentity.of(keys.get(number), REQUEST, MINUTE), MINUTE);
				if (claimant.claim() instanceof Claim.Acquired) {
					workForAMillisecond();
					claimant.complete(Samples.response("run " + runs.get(number).incrementAndGet()));
				}
			}
			return thread;
		});
		crowded.close();
		assertThat(runs).extracting(AtomicInteger::get).containsOnly(1);
		assertThat(keys).extracting((each) -> this.store.claim(each, REQUEST, "rival", MINUTE))
			.are(Samples.completed(Samples.response("run 1")));
	}

	private static IdempotencyEngine engine(RedisIdempotencyStore store) {
		return new IdempotencyEngine(store, OnStoreFailure.REJECT, Duration.ofMinutes(10));
	}

	private Claimant claimant(Duration lease) {
		return this.engine.claimant(Samples.operation(), RunIdentity.of(this.key, REQUEST, MINUTE), lease);
	}

	private Claim rivalsClaim() {
		return awaitReply(() -> this.store.claim(this.key, REQUEST, "rival", MINUTE), (claim) -> true);
	}

	/**
	 * Waits without claiming: after a restart Redis has lost the claim, and a competing
	 * claim would be granted before the key is restored or its response stored.
	 */
	private void awaitThatTheKeyIsFree(boolean free) {
		awaitReply(() -> this.store.release(this.key, "nobody"), (released) -> released == free);
	}

	private static <T> T awaitReply(Callable<T> verb, Predicate<T> expected) {
		return await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class).until(verb, expected);
	}

	private static void workForAMillisecond() {
		long end = System.nanoTime() + Duration.ofMillis(1).toNanos();
		while (System.nanoTime() - end < 0) {
			Thread.onSpinWait();
		}
	}

}
