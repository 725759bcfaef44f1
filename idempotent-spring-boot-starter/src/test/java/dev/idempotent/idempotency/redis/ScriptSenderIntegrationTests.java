package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts on a native connection, and on connections of Spring Data with Lettuce and
 * Jedis.
 */
class ScriptSenderIntegrationTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static JedisConnectionFactory jedis;

	private static IdempotencyRedisConnection dedicated;

	private static List<IdempotencyRedisConnection> clients;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		jedis = new JedisConnectionFactory(new RedisStandaloneConfiguration(redis.host(), redis.port()));
		jedis.afterPropertiesSet();
		jedis.start();
		dedicated = IdempotencyRedisConnection.withTimeout(redis.connect(), Duration.ofSeconds(30));
		clients = List.of(IdempotencyRedisConnection.shared(jedis), dedicated,
				IdempotencyRedisConnection.shared(redis.connect()));
	}

	@AfterAll
	static void disconnect() {
		dedicated.close();
		jedis.destroy();
	}

	static List<IdempotencyRedisConnection> clients() {
		return clients;
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("clients")
	void reloadsEachScriptThatTheServerHasLost(IdempotencyRedisConnection client) {
		RedisIdempotencyStore store = new RedisIdempotencyStore(client, "scripts:");
		redis.command("SCRIPT FLUSH");
		assertThat(store.claim(this.key, REQUEST, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
		redis.command("SCRIPT FLUSH");
		assertThat(store.renew(this.key, "owner", MINUTE)).isTrue();
		redis.command("SCRIPT FLUSH");
		assertThat(store.complete(this.key, REQUEST, "owner", RESPONSE, MINUTE)).isTrue();
		redis.command("SCRIPT FLUSH");
		assertThat(store.release(this.key, "owner")).isFalse();
		redis.command("SCRIPT FLUSH");
		assertThat(store.find(this.key)).isNotNull();
		redis.command("SCRIPT FLUSH");
		assertThat(store.forget(this.key, "owner")).isTrue();
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("clients")
	void readsEachReply(IdempotencyRedisConnection client) {
		RedisIdempotencyStore store = new RedisIdempotencyStore(client, "scripts:");
		assertThat(store.find(this.key)).isNull();
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOfSatisfying(Claim.Pending.class,
				(pending) -> assertThat(pending.remainingLease()).isPositive());
		assertThat(store.claim(this.key, Samples.fingerprint("other request"), "rival", MINUTE)).isInstanceOfSatisfying(
				Claim.Mismatched.class, (mismatched) -> assertThat(mismatched.remainingLease()).isPositive());
		store.complete(this.key, REQUEST, "owner", RESPONSE, MINUTE);
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).is(Samples.completed(RESPONSE));
		assertThat(store.find(this.key)).extracting(StoredKey::token, StoredKey::response)
			.containsExactly("owner", RESPONSE);
	}

}
