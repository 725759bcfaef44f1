package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisIdempotencyStore}.
 */
class RedisIdempotencyStoreIntegrationTests extends IdempotencyStoreContract {

	private static final String PREFIX = "contract:";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final Pattern CALLS = Pattern.compile("calls=(\\d+)");

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static StringRedisTemplate template;

	private static RedisIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		template = new StringRedisTemplate(redis.connect());
		store = new RedisIdempotencyStore(redis.connect(), PREFIX);
	}

	@BeforeEach
	void flush() {
		redis.flush();
	}

	@Override
	public IdempotencyStore store() {
		return store;
	}

	@AfterEach
	void letsEveryKeyExpire() {
		assertThat(template.keys("*")).allSatisfy((name) -> assertThat(template.getExpire(name)).isNotEqualTo(-1));
	}

	@Test
	void expiresAKeyAfterItsLeaseAndThenAfterItsRetention() {
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(timeToLive()).isBetween(1L, 60L);
		store.renew(this.key, "owner", MINUTE.multipliedBy(2));
		assertThat(timeToLive()).isBetween(61L, 120L);
		store.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE.multipliedBy(3));
		assertThat(timeToLive()).isBetween(121L, 180L);
	}

	@Test
	void namesAKeyByPrefixAndDigest() {
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(template.keys("*")).isEqualTo(Set.of(PREFIX + this.key.digest()));
	}

	@Test
	void deletesTheKeyOnRelease() {
		store.claim(this.key, REQUEST, "owner", MINUTE);
		store.release(this.key, "owner");
		assertThat(template.keys("*")).isEmpty();
	}

	@Test
	void separatesKeysByPrefix() {
		RedisIdempotencyStore other = new RedisIdempotencyStore(redis.connect(), "other:");
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(other.claim(this.key, REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
	}

	@Test
	void reloadsItsScriptsAfterTheServerHasLostThem() {
		forgetScripts();
		assertThat(store.claim(this.key, REQUEST, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
		forgetScripts();
		assertThat(store.renew(this.key, "owner", MINUTE)).isTrue();
		forgetScripts();
		assertThat(store.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE)).isTrue();
		forgetScripts();
		assertThat(store.release(this.key, "owner")).isFalse();
		forgetScripts();
		assertThat(store.find(this.key)).isNotNull();
		forgetScripts();
		assertThat(store.forget(this.key, "owner")).isTrue();
	}

	@Test
	void sendsOneCommandPerOperation() {
		askEveryVerb(Samples.key());
		long loads = calls("eval");
		long verbs = calls("evalsha");
		askEveryVerb(this.key);
		assertThat(calls("eval")).isEqualTo(loads);
		assertThat(calls("evalsha")).isEqualTo(verbs + 6);
	}

	private static void askEveryVerb(IdempotencyKey key) {
		assertThat(store.claim(key, REQUEST, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
		assertThat(store.renew(key, "owner", MINUTE)).isTrue();
		assertThat(store.release(key, "owner")).isTrue();
		assertThat(store.complete(key, REQUEST, "owner", Samples.response("response"), MINUTE)).isTrue();
		assertThat(store.find(key)).isNotNull();
		assertThat(store.forget(key, "owner")).isTrue();
	}

	private long timeToLive() {
		return template.getExpire(PREFIX + this.key.digest());
	}

	private static void forgetScripts() {
		try (RedisConnection connection = template.getRequiredConnectionFactory().getConnection()) {
			connection.scriptingCommands().scriptFlush();
		}
	}

	private static long calls(String command) {
		try (RedisConnection connection = template.getRequiredConnectionFactory().getConnection()) {
			Properties statistics = connection.serverCommands().info("commandstats");
			assertThat(statistics).isNotNull();
			Matcher calls = CALLS.matcher(statistics.getProperty("cmdstat_" + command, "calls=0"));
			assertThat(calls.lookingAt()).isTrue();
			return Long.parseLong(calls.group(1));
		}
	}

}
