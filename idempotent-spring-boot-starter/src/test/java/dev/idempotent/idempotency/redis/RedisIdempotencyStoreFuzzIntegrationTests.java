package dev.idempotent.idempotency.redis;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreFuzz;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Fuzzes {@link RedisIdempotencyStore}.
 */
class RedisIdempotencyStoreFuzzIntegrationTests extends IdempotencyStoreFuzz {

	private static final String PREFIX = "fuzz:";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static StringRedisTemplate template;

	private static RedisIdempotencyStore store;

	@BeforeAll
	static void connect() {
		template = new StringRedisTemplate(redis.connect());
		store = new RedisIdempotencyStore(IdempotencyRedisConnection.shared(redis.connect()), PREFIX);
	}

	@Override
	protected IdempotencyStore store() {
		return store;
	}

	@Override
	protected void forget(IdempotencyKey key) {
		template.delete(PREFIX + key.digest());
	}

}
