package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyRedisConnection#warmUp}.
 */
@ExtendWith(OutputCaptureExtension.class)
class EvictionPolicyIntegrationTests {

	private static final String WARNING = "use a Redis with maxmemory-policy noeviction";

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final RedisConnectionFactory factory = redis.connect();

	@Test
	void warnsOfAServerThatEvictsKeys(CapturedOutput output) {
		setPolicy("allkeys-lru");
		warmUp();
		assertThat(output).containsOnlyOnce(WARNING).contains("allkeys-lru");
	}

	@Test
	void isSilentAboutAServerThatDoesNotEvict(CapturedOutput output) {
		setPolicy("noeviction");
		warmUp();
		assertThat(output).doesNotContain("maxmemory-policy");
	}

	@Test
	void warnsIfThePolicyCannotBeRead(CapturedOutput output) {
		setPolicy("allkeys-lru");
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.execute("ACL", bytes("SETUSER"), bytes("default"), bytes("-info"));
			warmUp();
			connection.execute("ACL", bytes("SETUSER"), bytes("default"), bytes("+info"));
		}
		assertThat(output).containsOnlyOnce("The maxmemory-policy of Redis could not be read").contains("NOPERM");
	}

	@Test
	void warnsIfTheServerIsDown(CapturedOutput output) {
		redis.stop();
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(redis.connect(),
				Duration.ofSeconds(10))) {
			connection.warmUp(Duration.ofSeconds(10));
		}
		redis.start();
		assertThat(output).containsOnlyOnce("Redis was not reachable while the application started")
			.contains("Connection refused");
	}

	private void warmUp() {
		IdempotencyRedisConnection.shared(this.factory).warmUp(Duration.ofMinutes(1));
	}

	private void setPolicy(String policy) {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.serverCommands().setConfig("maxmemory-policy", policy);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
