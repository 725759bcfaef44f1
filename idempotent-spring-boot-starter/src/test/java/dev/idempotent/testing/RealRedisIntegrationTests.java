package dev.idempotent.testing;

import java.net.ConnectException;
import java.net.Socket;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link RealRedis}.
 */
class RealRedisIntegrationTests {

	@RegisterExtension
	static final RealRedis shared = RealRedis.shared();

	@RegisterExtension
	static final RealRedis alsoShared = RealRedis.shared();

	@RegisterExtension
	static final RealRedis dedicated = RealRedis.dedicated();

	private static int port;

	@BeforeAll
	static void rememberThePort() {
		port = dedicated.port();
	}

	@Test
	void answersPing() {
		assertThat(ping(shared)).isEqualTo("PONG");
		assertThat(ping(dedicated)).isEqualTo("PONG");
	}

	@Test
	void sharesOneServerAndKeepsADedicatedOneApart() {
		assertThat(alsoShared.port()).isEqualTo(shared.port());
		assertThat(dedicated.port()).isNotEqualTo(shared.port());
	}

	@Test
	void flushesEveryKey() {
		StringRedisTemplate template = new StringRedisTemplate(shared.connect());
		template.opsForValue().set("key", "value");
		shared.flush();
		assertThat(template.hasKey("key")).isFalse();
	}

	@Test
	void stopsAndStartsOnTheSamePort() {
		dedicated.stop();
		assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> new Socket(dedicated.host(), port).close());
		dedicated.start();
		assertThat(dedicated.port()).isEqualTo(port);
		assertThat(ping(dedicated)).isEqualTo("PONG");
	}

	@Test
	void losesItsDataWithAStop() {
		new StringRedisTemplate(dedicated.connect()).opsForValue().set("key", "value");
		dedicated.stop();
		dedicated.start();
		assertThat(new StringRedisTemplate(dedicated.connect()).hasKey("key")).isFalse();
	}

	@Test
	void refusesToStopTheSharedServer() {
		assertThatIllegalStateException().isThrownBy(shared::stop).withMessageContaining("RealRedis.dedicated()");
	}

	@Test
	void isNotThereOutsideItsTestClass() {
		assertThatIllegalStateException().isThrownBy(RealRedis.shared()::port)
			.withMessageContaining("while its test class runs");
	}

	private static String ping(RealRedis redis) {
		try (RedisConnection connection = redis.connect().getConnection()) {
			return connection.ping();
		}
	}

	@Nested
	class NestedTests {

		@Test
		void useTheServerOfTheirOuterClass() {
			assertThat(dedicated.port()).isEqualTo(port);
			assertThat(ping(dedicated)).isEqualTo("PONG");
		}

	}

}
