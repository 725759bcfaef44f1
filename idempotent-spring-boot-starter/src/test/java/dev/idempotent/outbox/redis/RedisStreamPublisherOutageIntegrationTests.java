package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisStreamPublisher} on a server and a network that come and go.
 */
class RedisStreamPublisherOutageIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	/**
	 * As long as a busy machine may need for a reply.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy network = StallingProxy.before(redis);

	private LettuceConnectionFactory application;

	private RedisStreamPublisher publisher;

	@BeforeEach
	void connect() {
		redis.start();
		this.application = new LettuceConnectionFactory(network.host(), network.port());
		this.application.afterPropertiesSet();
		this.publisher = publisher(PATIENCE);
		await().until(() -> publishOne().equals(DELIVERED));
	}

	@AfterEach
	void disconnect() {
		network.resume();
		this.publisher.close();
		this.application.destroy();
	}

	@Test
	void isUnavailableWhileRedisIsStoppedAndRecoversWithIt() {
		redis.stop();
		network.reset();
		assertThat(this.publisher.publish(Events.numbered("orders", 3))).hasSize(3)
			.allSatisfy((outcome) -> assertThat(outcome).isInstanceOf(Outcome.Unavailable.class));
		redis.start();
		await().until(() -> publishOne().equals(DELIVERED));
		assertThat(new Streams(redis.connect()).payloads("probe")).hasSize(1);
	}

	@Test
	void waitsForASilentConnectionNoLongerThanTheTimeout() {
		try (RedisStreamPublisher hasty = connectedHastyPublisher()) {
			network.hold();
			long start = System.nanoTime();
			assertThat(publishOne(hasty)).isInstanceOf(Outcome.Unavailable.class);
			assertThat(publishOne(hasty)).isInstanceOf(Outcome.Unavailable.class);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(TIMEOUT, TIMEOUT.multipliedBy(15));
		}
	}

	@Test
	void doesNotReuseASilentConnection() {
		try (RedisStreamPublisher hasty = connectedHastyPublisher()) {
			network.forgetConnections();
			assertThat(publishOne(hasty)).isInstanceOf(Outcome.Unavailable.class);
			await().until(() -> publishOne(hasty).equals(DELIVERED));
		}
	}

	@Test
	void doesNotResendABatchWhoseReplyIsLost() {
		network.dropNextReply();
		assertThat(this.publisher.publish(List.of(Events.to("lost", "0"))))
			.allSatisfy((outcome) -> assertThat(outcome).isInstanceOf(Outcome.Unavailable.class));
		assertThat(publishOne()).isEqualTo(DELIVERED);
		assertThat(new Streams(redis.connect()).payloads("lost")).containsExactly("0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "LOADING Redis is loading the dataset in memory",
			"READONLY You can't write against a read only replica.", "MASTERDOWN Link with MASTER is down",
			"CLUSTERDOWN The cluster is down", "OOM command not allowed when used memory > 'maxmemory'.",
			"NOREPLICAS Not enough good replicas to write.", "MISCONF Errors writing to the AOF file",
			"BUSY Redis is busy running a script.", "NOAUTH Authentication required." })
	void doesNotBlameTheEventForTheStateOfTheServer(String error) {
		network.answer("-" + error);
		assertThat(publishOne()).isEqualTo(new Outcome.Unavailable(
				"Redis currently rejects writes (" + error.substring(0, error.indexOf(' ')) + ")"));
		network.resume();
		assertThat(publishOne()).isEqualTo(DELIVERED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "WRONGTYPE secret", "ERR secret" })
	void reportsOnlyTheErrorCode(String error) {
		network.answer("-" + error);
		assertThat(publishOne()).isEqualTo(
				new Outcome.Retry("Redis rejected the event (" + error.substring(0, error.indexOf(' ')) + ")", null));
	}

	@Test
	void stopsAtTheFirstFailureWhenItPublishesSequentially() {
		redis.stop();
		try (RedisStreamPublisher plain = new RedisStreamPublisher(redis.connect(), null)) {
			assertThat(plain.publish(Events.numbered("orders", 3))).hasSize(3)
				.allSatisfy((outcome) -> assertThat(outcome).isInstanceOf(Outcome.Unavailable.class));
		}
	}

	@ParameterizedTest
	@CsvSource({ "READONLY, 1", "MASTERDOWN, 1", "LOADING, 1", "CLUSTERDOWN, 1", "NOAUTH, 1", "NOPERM, 1", "OOM, 0",
			"WRONGTYPE, 0" })
	void reconnectsAfterARejectionThatAnotherServerMayNotRepeat(String code, int connections) {
		int before = network.accepted();
		network.answer("-" + code + " secret");
		assertThat(publishOne()).isNotEqualTo(DELIVERED);
		network.resume();
		assertThat(publishOne()).isEqualTo(DELIVERED);
		assertThat(network.accepted() - before).isEqualTo(connections);
	}

	private Outcome publishOne() {
		return publishOne(this.publisher);
	}

	private static Outcome publishOne(RedisStreamPublisher publisher) {
		return publisher.publish(List.of(Events.to("probe", "0"))).get(0);
	}

	private RedisStreamPublisher connectedHastyPublisher() {
		RedisStreamPublisher hasty = publisher(TIMEOUT);
		await().until(() -> publishOne(hasty).equals(DELIVERED));
		return hasty;
	}

	private RedisStreamPublisher publisher(Duration timeout) {
		return new RedisStreamPublisher(DedicatedRedisConnections.to(this.application, timeout), null, 0, timeout);
	}

}
