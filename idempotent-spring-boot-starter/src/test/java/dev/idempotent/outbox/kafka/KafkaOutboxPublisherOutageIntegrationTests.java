package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.KafkaRecords;
import dev.idempotent.testing.kafka.KafkaCluster;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link KafkaOutboxPublisher} on servers that are killed. The system property
 * {@code kafka.kills} says how often.
 */
@Tag("long")
class KafkaOutboxPublisherOutageIntegrationTests {

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

	/**
	 * Publishes rounds of events as the relay does: one event of each key at a time, and
	 * the next one only when it is delivered.
	 */
	private static final class KeyedLoad implements AutoCloseable {

		private static final int KEYS = 20;

		private static final Duration PATIENCE = Duration.ofMinutes(2);

		private final KafkaOutboxPublisher publisher;

		private final String topic;

		private final AtomicInteger rounds = new AtomicInteger();

		private final AtomicInteger failures = new AtomicInteger();

		private final CompletableFuture<Void> end = new CompletableFuture<>();

		private volatile boolean stopped;

		private KeyedLoad(KafkaOutboxPublisher publisher, String topic) {
			this.publisher = publisher;
			this.topic = topic;
		}

		static KeyedLoad start(KafkaOutboxPublisher publisher, String topic) {
			KeyedLoad load = new KeyedLoad(publisher, topic);
			new Thread(load::run, "load").start();
			return load;
		}

		/**
		 * Waits until so many further rounds are delivered.
		 */
		void awaitRounds(int further) {
			int wanted = this.rounds.get() + further;
			await().atMost(PATIENCE).until(() -> this.rounds.get() >= wanted || this.end.isDone());
			assertThat(this.end).isNotDone();
		}

		/**
		 * Waits until another event could not be delivered.
		 */
		void awaitFailure() {
			int before = this.failures.get();
			await().atMost(PATIENCE).until(() -> this.failures.get() > before || this.end.isDone());
			assertThat(this.end).isNotDone();
		}

		/**
		 * Waits for the end of the current round.
		 */
		void finish() throws Exception {
			this.stopped = true;
			this.end.get(2, TimeUnit.MINUTES);
		}

		/**
		 * The first occurrences of each key are all its numbers, in their order.
		 */
		void verify(String brokers) {
			Map<String, Set<String>> numbers = new TreeMap<>();
			KafkaRecords.of(brokers, this.topic)
				.forEach((record) -> numbers.computeIfAbsent(text(record.key()), (key) -> new LinkedHashSet<>())
					.add(text(record.value())));
			List<String> all = IntStream.range(0, this.rounds.get()).mapToObj(Integer::toString).toList();
			assertThat(numbers).hasSize(KEYS);
			assertThat(numbers.values()).allSatisfy((ofKey) -> assertThat(ofKey).containsExactlyElementsOf(all));
		}

		private void run() {
			try {
				while (!this.stopped) {
					deliver(this.rounds.get());
					this.rounds.incrementAndGet();
				}
				this.end.complete(null);
			}
			catch (Throwable ex) {
				this.end.completeExceptionally(ex);
			}
		}

		private void deliver(int round) {
			List<SerializedEvent> left = IntStream.range(0, KEYS)
				.mapToObj((key) -> KafkaEvents.to(this.topic, "key-" + key, Integer.toString(round)))
				.toList();
			while (!left.isEmpty()) {
				List<Outcome> outcomes = this.publisher.publish(left);
				List<SerializedEvent> again = new ArrayList<>();
				for (int i = 0; i < left.size(); i++) {
					if (!(outcomes.get(i) instanceof Outcome.Delivered)) {
						assertThat(outcomes.get(i)).isInstanceOf(Outcome.Unavailable.class);
						again.add(left.get(i));
						this.failures.incrementAndGet();
					}
				}
				left = again;
			}
		}

		private static String text(byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}

		@Override
		public void close() {
			this.stopped = true;
		}

	}

}
