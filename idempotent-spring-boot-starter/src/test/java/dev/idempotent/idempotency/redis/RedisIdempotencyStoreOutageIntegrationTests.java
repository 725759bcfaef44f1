package dev.idempotent.idempotency.redis;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisIdempotencyStore} on a server that comes and goes.
 */
class RedisIdempotencyStoreOutageIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofMillis(200);

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private static IdempotencyRedisConnection connection;

	private static RedisIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		connection = IdempotencyRedisConnection.withTimeout(redis.connect(), TIMEOUT);
		store = new RedisIdempotencyStore(connection, "outage:");
	}

	@AfterAll
	static void disconnect() {
		connection.close();
	}

	@BeforeEach
	void askOnce() {
		awaitAnAnswerTo(StoreVerb.CLAIM);
	}

	@AfterEach
	void start() {
		redis.start();
	}

	@ParameterizedTest
	@EnumSource
	void reportsAStoppedServerAndRecoversWithIt(StoreVerb verb) {
		redis.stop();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> verb.ask(store, this.key))
			.withMessageContaining(this.key.digest());
		redis.start();
		awaitAnAnswerTo(verb);
	}

	@Test
	void waitsForAStoppedServerNoLongerThanTheTimeout() {
		redis.stop();
		long start = System.nanoTime();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> StoreVerb.CLAIM.ask(store, this.key));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(100));
	}

	@Test
	void reportsAServerThatNeverExisted() {
		redis.stop();
		try (IdempotencyRedisConnection cold = IdempotencyRedisConnection.withTimeout(redis.connect(), TIMEOUT)) {
			RedisIdempotencyStore early = new RedisIdempotencyStore(cold, "outage:");
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> StoreVerb.CLAIM.ask(early, this.key));
			redis.start();
			await().untilAsserted(() -> assertThatNoException().isThrownBy(() -> StoreVerb.CLAIM.ask(early, this.key)));
		}
	}

	/**
	 * The application has no connection of its own that could log.
	 */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsNoAttemptToReconnect(CapturedOutput output) {
		redis.stop();
		// Lettuce would try again within a second.
		await().during(Duration.ofSeconds(2)).until(() -> !output.getOut().contains("io.lettuce"));
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> StoreVerb.CLAIM.ask(store, this.key));
		redis.start();
		awaitAnAnswerTo(StoreVerb.CLAIM);
		assertThat(output).doesNotContain("io.lettuce");
	}

	private void awaitAnAnswerTo(StoreVerb verb) {
		await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class).until(() -> {
			verb.ask(store, this.key);
			return true;
		});
	}

}
