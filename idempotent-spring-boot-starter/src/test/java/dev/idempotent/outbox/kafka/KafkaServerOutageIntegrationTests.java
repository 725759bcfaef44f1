package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.kafka.KafkaCluster;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link KafkaOutboxPublisher} on servers that are killed. The system property
 * {@code kafka.kills} says how often.
 */
@Tag("long")
class KafkaServerOutageIntegrationTests {

	private static final int KILLS = Integer.getInteger("kafka.kills", 1);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@Test
	void losesAndReordersNothingWhenTheServerIsKilledAndRestarted() throws Exception {
		try (KafkaCluster cluster = KafkaCluster.start(1)) {
			cluster.createTopic(new NewTopic("orders", 3, (short) 1));
			try (KafkaOutboxPublisher publisher = publisher(cluster);
					KeyedLoad load = KeyedLoad.start(publisher, "orders")) {
				for (int kill = 0; kill < KILLS; kill++) {
					load.awaitRounds(20);
					cluster.server(1).kill();
					load.awaitFailure();
					cluster.server(1).start();
				}
				load.awaitRounds(20);
				load.finish();
				load.verify(cluster.addresses());
			}
		}
	}

	@Test
	void survivesTheLossOfALeaderAndKeepsOnlyTheEventsOfAPartitionWithoutOne() throws Exception {
		try (KafkaCluster cluster = KafkaCluster.start(3)) {
			cluster.createTopic(new NewTopic("orders", 3, (short) 3).configs(Map.of("min.insync.replicas", "2")));
			try (KafkaOutboxPublisher publisher = publisher(cluster);
					KeyedLoad load = KeyedLoad.start(publisher, "orders")) {
				for (int kill = 0; kill < KILLS; kill++) {
					load.awaitRounds(20);
					int leader = leader(cluster);
					String lonely = "lonely-" + kill;
					cluster.createTopic(new NewTopic(lonely, Map.of(0, List.of(leader))));
					cluster.server(leader).kill();
					load.awaitRounds(20);
					await().until(() -> publishOne(publisher, lonely),
							new Outcome.Unavailable("A partition of the topic has no leader",
									Scope.DESTINATION)::equals);
					load.awaitRounds(5);
					cluster.server(leader).start();
					await().atMost(Duration.ofMinutes(2)).until(() -> publishOne(publisher, lonely), DELIVERED::equals);
					cluster.awaitAll();
				}
				load.finish();
				load.verify(cluster.addresses());
			}
		}
	}

	private static int leader(KafkaCluster cluster) throws Exception {
		return Objects.requireNonNull(cluster.leader("orders", 0));
	}

	private static Outcome publishOne(KafkaOutboxPublisher publisher, String topic) {
		SerializedEvent event = KafkaEvents.to(topic, "key", "0");
		return publisher.publish(List.of(event)).get(0);
	}

	private static KafkaOutboxPublisher publisher(KafkaCluster cluster) {
		return KafkaOutboxPublisher.connectingTo(Map.of("bootstrap.servers", cluster.addresses()),
				Duration.ofSeconds(15));
	}

}
