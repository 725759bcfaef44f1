package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
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
class RedisIdempotencyStoreForeignValuesIntegrationTests {

	private static final String PREFIX = "foreign:";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static StringRedisTemplate template;

	private static RedisValues values;

	private static RedisIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	private final String name = PREFIX + this.key.digest();

	@BeforeAll
	static void connect() {
		template = new StringRedisTemplate(redis.connect());
		values = new RedisValues(redis.connect());
		store = new RedisIdempotencyStore(IdempotencyRedisConnection.shared(redis.connect()), PREFIX);
	}

	@ParameterizedTest
	@EnumSource
	void refusesAString(StoreVerb verb) {
		for (String text : List.of("PENDING", "", "IK", "\u00f5IK\u0001")) {
			template.opsForValue().set(this.name, text);
			assertThatTheStoreRefuses(verb);
			assertThat(template.opsForValue().get(this.name)).isEqualTo(text);
		}
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
			.flatMap((verb) -> Stream
				.of(Map.of("name", "value"),
						Map.of("state", "PENDING", "token", "owner", "version", "1", "fingerprint", "digest"))
				.map((hash) -> Arguments.of(verb, hash)));
	}

	@ParameterizedTest
	@EnumSource(names = { "CLAIM", "FIND" })
	void refusesADamagedValue(StoreVerb verb) {
		byte[] value = RedisValue.completed("rival", REQUEST, Samples.response("response"));
		value[RedisValue.completedPrefix("rival").length - 1] = 'X';
		values.set(this.name, value);
		assertThatTheStoreRefuses(verb);
		assertThat(values.bytes(this.name)).isEqualTo(value);
	}

	@ParameterizedTest
	@EnumSource
	void neverChangesATruncatedValue(StoreVerb verb) {
		byte[] value = RedisValue.completed("rival", REQUEST, StoredResponse.notKept());
		for (int length = 0; length < value.length; length++) {
			byte[] truncated = Arrays.copyOf(value, length);
			values.set(this.name, truncated);
			try {
				verb.ask(store, this.key);
			}
			catch (IdempotencyStoreException ex) {
				assertThat(ex).isNotInstanceOf(IdempotencyStoreUnavailableException.class);
			}
			assertThat(values.bytes(this.name)).isEqualTo(truncated);
			assertThat(template.getExpire(this.name)).isEqualTo(-1);
		}
		template.delete(this.name);
	}

	@Test
	void listsTheOtherKeys() {
		IdempotencyKey other = Samples.key();
		store.claim(other, REQUEST, "owner", Duration.ofMinutes(1), Samples.run());
		template.opsForValue().set(this.name, "PENDING", Duration.ofMinutes(1));
		store.announce(Map.of(this.key, Duration.ofMinutes(1), other, Duration.ofMinutes(1)));
		assertThat(Objects.requireNonNull(store.findPending(1000)).keys()).containsKey(other)
			.doesNotContainKey(this.key);
		template.delete(PREFIX + "running");
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
