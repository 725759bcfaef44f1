package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.testing.RealRedisCluster;
import dev.idempotent.testing.WatchedRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the publishers to Redis on a Cluster and behind Sentinels.
 */
class RedisStreamClusterIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@RegisterExtension
	static final RealRedisCluster cluster = new RealRedisCluster();

	@RegisterExtension
	static final WatchedRedis watched = new WatchedRedis();

	@Test
	void reachesTheStreamsOfAllNodesAndKeepsTheOrderOfEach() {
		List<SerializedEvent> events = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			events.add(Events.to("orders-" + i % 10, Integer.toString(i / 10)));
		}
		try (RedisStreamPublisher publisher = publisher(cluster.client(), 0)) {
			assertThat(publisher.publish(events)).hasSize(300).containsOnly(DELIVERED);
		}
		Streams streams = new Streams(cluster.client());
		for (int i = 0; i < 10; i++) {
			assertThat(streams.payloads("orders-" + i)).isEqualTo(Streams.numbers(30));
		}
	}

	@Test
	void publishesToChannelsOfAClusterInOrderAndCountsNoReceivers() {
		AtomicInteger unreceived = new AtomicInteger();
		try (RedisChannelPublisher publisher = new RedisChannelPublisher(
				DedicatedRedisConnections.to(cluster.client(), TIMEOUT), unreceived::incrementAndGet);
				Subscriber subscriber = new Subscriber(cluster.client(), "orders")) {
			// Only one node delivers to the subscriber itself.
			for (String channel : List.of("first", "second", "third", "orders")) {
				assertThat(publisher.publish(Events.numberedToChannel(channel, 100))).hasSize(100)
					.containsOnly(DELIVERED);
			}
			await().until(() -> subscriber.messages().size() == 100);
			assertThat(subscriber.payloads()).isEqualTo(Streams.numbers(100));
		}
		assertThat(unreceived).hasValue(0);
	}

	@Test
	void waitsForAReplicaBehindSentinelsAndFollowsAFailover() throws Exception {
		try (RedisStreamPublisher publisher = publisher(watched.client(), 1);
				RedisStreamPublisher hasty = publisher(watched.client(), 0)) {
			await().until(() -> publisher.publish(Events.numbered("orders", 1)).equals(List.of(DELIVERED)));
			assertThat(hasty.publish(Events.numbered("probe", 1))).containsOnly(DELIVERED);
			watched.killMaster();
			assertThat(publisher.publish(Events.numbered("orders", 1)))
				.allSatisfy((outcome) -> assertThat(outcome).isInstanceOf(Outcome.Unavailable.class));
			await().until(() -> hasty.publish(Events.numbered("probe", 1)).equals(List.of(DELIVERED)));
		}
	}

	private static RedisStreamPublisher publisher(LettuceConnectionFactory application, int replicas) {
		return new RedisStreamPublisher(DedicatedRedisConnections.to(application, TIMEOUT), null, replicas,
				Duration.ofSeconds(2));
	}

}
