package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisIdempotencyStore} with keys that another application wrote.
 */
class RedisForeignValuesIntegrationTests {

	private static final String PREFIX = "foreign:";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static StringRedisTemplate template;

	private static RedisIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	private final String name = PREFIX + this.key.digest();

	@BeforeAll
	static void connect() {
		template = new StringRedisTemplate(redis.connect());
		store = new RedisIdempotencyStore(redis.connect(), PREFIX);
	}

	@ParameterizedTest
	@EnumSource
	void refusesAString(StoreVerb verb) {
		template.opsForValue().set(this.name, "PENDING");
		assertThatTheStoreRefuses(verb);
		assertThat(template.opsForValue().get(this.name)).isEqualTo("PENDING");
	}

	@ParameterizedTest
	@EnumSource
	void refusesAList(StoreVerb verb) {
		template.opsForList().rightPush(this.name, "PENDING");
		assertThatTheStoreRefuses(verb);
		assertThat(template.opsForList().range(this.name, 0, -1)).containsExactly("PENDING");
	}

	@ParameterizedTest
	@MethodSource
	void refusesAForeignHash(StoreVerb verb, Map<String, String> hash) {
		template.opsForHash().putAll(this.name, hash);
		assertThatTheStoreRefuses(verb);
		assertThat(template.<String, String>opsForHash().entries(this.name)).isEqualTo(hash);
	}

	static Stream<Arguments> refusesAForeignHash() {
		return Stream.of(StoreVerb.values())
			.flatMap((verb) -> Stream.of(Map.of("name", "value"), Map.of("state", "open"), Map.of("token", "owner"))
				.map((hash) -> Arguments.of(verb, hash)));
	}

	@ParameterizedTest
	@MethodSource
	void refusesADamagedHash(StoreVerb verb, Map<String, String> hash) {
		template.opsForHash().putAll(this.name, hash);
		assertThatTheStoreRefuses(verb);
		assertThat(template.<String, String>opsForHash().entries(this.name)).isEqualTo(hash);
	}

	static Stream<Arguments> refusesADamagedHash() {
		return Stream.of(Arguments.of(StoreVerb.FIND, Map.of("state", "PENDING")),
				Arguments.of(StoreVerb.FIND, Map.of("state", "COMPLETED", "token", "owner")),
				Arguments.of(StoreVerb.CLAIM, Map.of("state", "COMPLETED", "token", "owner")));
	}

	private void assertThatTheStoreRefuses(StoreVerb verb) {
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> verb.ask(store, this.key))
			.isNotInstanceOf(IdempotencyStoreUnavailableException.class)
			.withMessageContaining(this.key.digest())
			.withMessageContaining("idempotent.redis.key-prefix");
		assertThat(template.getExpire(this.name)).isEqualTo(-1);
		template.expire(this.name, Duration.ofMinutes(1));
	}

}
