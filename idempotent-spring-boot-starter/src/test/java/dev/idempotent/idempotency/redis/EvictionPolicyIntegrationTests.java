package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;

import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link EvictionPolicy}.
 */
@ExtendWith(OutputCaptureExtension.class)
class EvictionPolicyIntegrationTests {

	private static final String WARNING = "set maxmemory-policy noeviction";

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final RedisConnectionFactory factory = redis.connect();

	@Test
	void warnsOfAServerThatEvicts(CapturedOutput output) {
		setPolicy("allkeys-lru");
		IdempotencyRedisConnection.shared(this.factory).warnOfEviction();
		await().untilAsserted(() -> assertThat(output).contains(WARNING, "allkeys-lru"));
	}

	@Test
	void saysNothingAboutAServerThatDoesNotEvict(CapturedOutput output) {
		setPolicy("noeviction");
		EvictionPolicy.warnIfKeysAreEvicted(this.factory);
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void saysNothingAboutAServerThatDoesNotTell(CapturedOutput output) {
		setPolicy("allkeys-lru");
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.execute("ACL", bytes("SETUSER"), bytes("default"), bytes("-info"));
			EvictionPolicy.warnIfKeysAreEvicted(this.factory);
			connection.execute("ACL", bytes("SETUSER"), bytes("default"), bytes("+info"));
		}
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void saysNothingAboutAServerThatIsDown(CapturedOutput output) {
		redis.stop();
		EvictionPolicy.warnIfKeysAreEvicted(this.factory);
		redis.start();
		assertThat(output).doesNotContain(WARNING);
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
