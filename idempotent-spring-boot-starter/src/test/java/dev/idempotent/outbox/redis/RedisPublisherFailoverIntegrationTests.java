package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisStreamPublisher} behind one address that leads to another master
 * after a failover, as with managed services, while the old master keeps running.
 */
class RedisPublisherFailoverIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@RegisterExtension
	static final RealRedis first = RealRedis.dedicated();

	@RegisterExtension
	static final RealRedis second = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy endpoint = StallingProxy.before(first);

	@Test
	void deliversToTheNewMasterOnceTheOldOneRejectsWrites() {
		LettuceConnectionFactory application = new LettuceConnectionFactory(endpoint.host(), endpoint.port());
		application.afterPropertiesSet();
		try (RedisStreamPublisher publisher = publisher(application)) {
			assertThat(publisher.publish(Events.numbered("before", 1))).containsOnly(DELIVERED);
			first.follow(second);
			endpoint.leadTo(second);
			assertThat(publisher.publish(Events.numbered("refused", 1)))
				.containsOnly(new Outcome.Unavailable("Redis currently rejects writes (READONLY)", Scope.PUBLISHER));
			await().until(() -> publisher.publish(Events.numbered("after", 1)).equals(List.of(DELIVERED)));
			assertThat(new Streams(second.connect()).payloads("after")).containsExactly("0");
		}
		finally {
			application.destroy();
			first.lead();
		}
	}

	@Test
	void publishesToTheChannelsOfTheNewMasterAlthoughTheOldOneAcceptsMessages() {
		LettuceConnectionFactory application = new LettuceConnectionFactory(endpoint.host(), endpoint.port());
		application.afterPropertiesSet();
		try (RedisChannelPublisher publisher = new RedisChannelPublisher(
				DedicatedRedisConnections.to(application, TIMEOUT), () -> {
				})) {
			endpoint.leadTo(first);
			assertThat(publisher.publish(Events.numberedToChannel("orders", 1))).containsOnly(DELIVERED);
			first.follow(second);
			endpoint.leadTo(second);
			try (Subscriber subscriber = new Subscriber(second.connect(), "orders")) {
				assertThat(publisher.publish(Events.numberedToChannel("orders", 1)))
					.containsOnly(new Outcome.Unavailable("The Redis server is a replica"));
				await()
					.until(() -> publisher.publish(Events.numberedToChannel("orders", 1)).equals(List.of(DELIVERED)));
				await().untilAsserted(() -> assertThat(subscriber.payloads()).containsExactly("0"));
			}
		}
		finally {
			application.destroy();
			endpoint.leadTo(first);
			first.lead();
		}
	}

	@Test
	void countsNoAttemptIfTheUserLacksPermission() {
		second.command("ACL SETUSER reader on >secret ~* +@all -xadd");
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(second.host(), second.port());
		server.setUsername("reader");
		server.setPassword("secret");
		LettuceConnectionFactory application = new LettuceConnectionFactory(server);
		application.afterPropertiesSet();
		try (RedisStreamPublisher publisher = publisher(application)) {
			assertThat(publisher.publish(Events.numbered("forbidden", 2))).containsExactly(
					new Outcome.Unavailable("Redis currently rejects writes (NOPERM)", Scope.DESTINATION),
					new Outcome.Unavailable("An earlier event of its key was not added", Scope.DESTINATION));
			second.command("ACL SETUSER reader +xadd");
			assertThat(publisher.publish(Events.numbered("forbidden", 2))).containsOnly(DELIVERED);
		}
		finally {
			application.destroy();
			second.command("ACL SETUSER reader off");
		}
	}

	private static RedisStreamPublisher publisher(LettuceConnectionFactory application) {
		return new RedisStreamPublisher(DedicatedRedisConnections.to(application, TIMEOUT), null, 0, TIMEOUT);
	}

}
