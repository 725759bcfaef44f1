package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.function.BiFunction;

import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyRedisConnection} behind one address that leads to another
 * master after a failover, while the old master keeps running.
 */
class IdempotencyRedisConnectionFailoverIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	@RegisterExtension
	static final RealRedis first = RealRedis.dedicated();

	@RegisterExtension
	static final RealRedis second = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy endpoint = StallingProxy.before(first);

	@AfterEach
	void leadBack() {
		first.lead();
		second.lead();
		endpoint.leadTo(first);
		endpoint.reset();
	}

	@Test
	void claimsAtTheNewMasterOnTheSharedConnection() {
		claimsAtTheNextMaster(IdempotencyRedisConnection::withTimeout);
	}

	@Test
	void claimsAtTheNewMasterOnConfirmedConnections() {
		claimsAtTheNextMaster((application, timeout) -> IdempotencyRedisConnection.confirmed(application, timeout, 1,
				timeout.dividedBy(2)));
	}

	private static void claimsAtTheNextMaster(
			BiFunction<LettuceConnectionFactory, Duration, IdempotencyRedisConnection> connect) {
		LettuceConnectionFactory application = new LettuceConnectionFactory(endpoint.host(), endpoint.port());
		application.afterPropertiesSet();
		try (IdempotencyRedisConnection connection = connect.apply(application, TIMEOUT)) {
			RedisIdempotencyStore store = new RedisIdempotencyStore(connection, "failover:");
			second.follow(first);
			awaitClaim(store);
			second.lead();
			first.follow(second);
			endpoint.leadTo(second);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> StoreVerb.CLAIM.ask(store, Samples.key()));
			awaitClaim(store);
		}
		finally {
			application.destroy();
		}
	}

	private static void awaitClaim(RedisIdempotencyStore store) {
		await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class).until(() -> {
			StoreVerb.CLAIM.ask(store, Samples.key());
			return true;
		});
	}

}
