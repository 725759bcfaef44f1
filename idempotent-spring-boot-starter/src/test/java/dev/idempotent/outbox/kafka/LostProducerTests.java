package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link KafkaOutboxPublisher} with producers that do not return, such as one
 * whose thread has died of an {@link OutOfMemoryError}.
 */
@Timeout(180)
class LostProducerTests {

	private static final List<SerializedEvent> EVENTS = List.of(KafkaEvents.to("orders", "key", "0"));

	private static final ProducerSettings SETTINGS = ProducerSettings.within(Duration.ofMillis(600));

	private final CountDownLatch released = new CountDownLatch(1);

	private final ScriptedProducer next = producer();

	@AfterEach
	void release() {
		this.released.countDown();
	}

	@Test
	void replacesAProducerThatDoesNotEndItsDeliveries() {
		ScriptedProducer dead = new ScriptedProducer(cluster()) {

			@Override
			public synchronized void flush() {
				block();
			}

		};
		dead.failAtFlush("0", new IllegalStateException("Not reached"));
		try (KafkaOutboxPublisher publisher = publisher(List.of(() -> dead, LostProducerTests::producer))) {
			await().until(() -> publisher.publish(EVENTS), List
				.of(new Outcome.Unavailable("Kafka did not confirm the record in time (TimeoutException)"))::equals);
			assertThat(dead.closed()).isTrue();
			await().until(() -> publisher.publish(EVENTS), List.of(new Outcome.Delivered())::equals);
		}
	}

	@Test
	void replacesAProducerThatGetsNoResponseForLong() {
		ScriptedProducer dead = producer().failAtSend("0", new TimeoutException());
		try (KafkaOutboxPublisher publisher = publisher(List.of(() -> dead, LostProducerTests::producer))) {
			assertThat(publisher.publish(EVENTS)).first().extracting("scope").isEqualTo(Scope.PUBLISHER);
			assertThat(dead.closed()).isFalse();
			await().until(() -> publisher.publish(EVENTS), List.of(new Outcome.Delivered())::equals);
			assertThat(dead.closed()).isTrue();
		}
	}

	@Test
	void isUnavailableWhileAProducerIsBeingCreated() {
		try (KafkaOutboxPublisher publisher = publisher(List.of(() -> {
			block();
			return producer();
		}))) {
			assertThat(publisher.publish(EVENTS)).containsExactly(
					new Outcome.Unavailable("There is no Kafka producer (It could not be created within PT0.2S)"));
			release();
			await().until(() -> publisher.publish(EVENTS), List.of(new Outcome.Delivered())::equals);
		}
	}

	@Test
	void closesAProducerThatIsCreatedTooLate() {
		try (KafkaOutboxPublisher publisher = publisher(List.of(() -> {
			block();
			return this.next;
		}))) {
			publisher.publish(EVENTS);
		}
		release();
		await().until(this.next::closed);
	}

	private void block() {
		try {
			this.released.await();
		}
		catch (InterruptedException ex) {
			throw new InterruptException(ex);
		}
	}

	/**
	 * The last supplier is asked again if a stall makes the publisher replace its
	 * producer, too.
	 */
	private static KafkaOutboxPublisher publisher(List<Supplier<Producer<byte[], byte[]>>> producers) {
		Queue<Supplier<Producer<byte[], byte[]>>> all = new ArrayDeque<>(producers);
		return new KafkaOutboxPublisher(() -> ((all.size() > 1) ? all.remove() : all.element()).get(), SETTINGS);
	}

	private static ScriptedProducer producer() {
		return new ScriptedProducer(cluster());
	}

	private static Cluster cluster() {
		Node broker = new Node(1, "localhost", 9092);
		Node[] replicas = { broker };
		return new Cluster("test", List.of(broker), List.of(new PartitionInfo("orders", 0, broker, replicas, replicas)),
				Set.of(), Set.of());
	}

}
