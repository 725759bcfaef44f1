package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Tests for {@link KafkaOutboxPublisher} with failures that a broker cannot be made to
 * cause.
 */
class KafkaOutboxPublisherTests {

	private static final Node BROKER = new Node(1, "localhost", 9092);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	private static final List<SerializedEvent> EVENTS = List.of(KafkaEvents.to("orders", "key", "0"),
			KafkaEvents.to("orders", "key", "bad"), KafkaEvents.to("orders", "key", "1"));

	private final List<ScriptedProducer> created = new ArrayList<>();

	private Cluster cluster = cluster(BROKER);

	static Stream<Arguments> failuresOfARecord() {
		return Stream.of(arguments(new RecordTooLargeException("secret"), Outcome.Reject.class),
				arguments(new InvalidRecordException("secret"), Outcome.Reject.class),
				arguments(new InvalidTopicException("secret"), Outcome.Reject.class),
				arguments(new KafkaException(new SerializationException("secret")), Outcome.Reject.class),
				arguments(new PolicyViolationException("secret"), Outcome.Retry.class));
	}

	@ParameterizedTest
	@MethodSource("failuresOfARecord")
	void blamesTheRecordAlone(Exception failure, Class<?> type) {
		this.created.add(producer().failAtSend("bad", failure));
		this.created.add(producer().failAtFlush("bad", failure));
		for (ScriptedProducer producer : this.created) {
			List<Outcome> outcomes = publisher(producer).publish(EVENTS);
			assertThat(outcomes).element(1).isInstanceOf(type).asString().doesNotContain("secret");
			assertThat(List.of(outcomes.get(0), outcomes.get(2))).containsOnly(DELIVERED);
			assertThat(producer.closed()).isFalse();
		}
	}

	static Stream<Arguments> failuresAtSend() {
		return Stream.of(
				arguments(new TimeoutException("secret", new UnknownTopicOrPartitionException("secret")),
						Scope.DESTINATION, false),
				arguments(new TimeoutException("secret"), Scope.PUBLISHER, false),
				arguments(new TopicAuthorizationException(Set.of("secret")), Scope.DESTINATION, false),
				arguments(new BufferExhaustedException("secret"), Scope.PUBLISHER, false),
				arguments(new SaslAuthenticationException("secret"), Scope.PUBLISHER, true),
				arguments(new ClusterAuthorizationException("secret"), Scope.PUBLISHER, true),
				arguments(new KafkaException("secret", new ClusterAuthorizationException("secret")), Scope.PUBLISHER,
						true),
				arguments(new ProducerFencedException("secret"), Scope.PUBLISHER, true),
				arguments(new IllegalStateException("secret"), Scope.PUBLISHER, true),
				arguments(new KafkaException("secret"), Scope.PUBLISHER, true));
	}

	@ParameterizedTest
	@MethodSource("failuresAtSend")
	void sendsNothingElseAfterAFailureThatIsNotOfTheRecord(Exception failure, Scope scope, boolean broken) {
		ScriptedProducer producer = producer().failAtSend("bad", failure);
		List<Outcome> outcomes = publisher(producer).publish(EVENTS);
		assertThat(producer.sends()).isEqualTo(2);
		assertThat(outcomes.subList(1, 3)).allSatisfy((outcome) -> assertUnavailable(outcome, scope));
		assertThat(producer.closed()).isEqualTo(broken);
	}

	static Stream<Arguments> failuresAtFlush() {
		return Stream.of(arguments(new TimeoutException("secret"), Scope.PUBLISHER, false),
				arguments(new NetworkException("secret"), Scope.PUBLISHER, false),
				arguments(new KafkaStorageException("secret"), Scope.PUBLISHER, false),
				arguments(new NotEnoughReplicasException("secret"), Scope.DESTINATION, false),
				arguments(new TopicAuthorizationException(Set.of("secret")), Scope.DESTINATION, false),
				arguments(new OutOfOrderSequenceException("secret"), Scope.PUBLISHER, true),
				arguments(new InvalidProducerEpochException("secret"), Scope.PUBLISHER, true),
				arguments(
						new KafkaException("Failed to append record because it was part of a batch which had one more "
								+ "more invalid records"),
						Scope.DESTINATION, false),
				arguments(new KafkaException("Producer is closed forcefully."), Scope.PUBLISHER, true));
	}

	@ParameterizedTest
	@MethodSource("failuresAtFlush")
	void determinesWhatIsUnavailable(Exception failure, Scope scope, boolean broken) {
		ScriptedProducer producer = producer().failAtFlush("bad", failure);
		assertUnavailable(publisher(producer).publish(EVENTS.subList(1, 2)).get(0), scope);
		assertThat(producer.closed()).isEqualTo(broken);
	}

	@Test
	void blamesTheTopicIfOthersOfTheBatchWereDelivered() {
		ScriptedProducer producer = producer().failAtFlush("bad", new TimeoutException("secret"));
		List<Outcome> outcomes = publisher(producer).publish(EVENTS);
		assertThat(List.of(outcomes.get(0), outcomes.get(2))).containsOnly(DELIVERED);
		assertUnavailable(outcomes.get(1), Scope.DESTINATION);
	}

	@Test
	void sendsNothingToATopicWithAPartitionWithoutLeader() {
		this.cluster = cluster(Node.noNode());
		ScriptedProducer producer = producer();
		List<SerializedEvent> events = List.of(KafkaEvents.to("orders", "key", "0"),
				KafkaEvents.to("others", "key", "0"));
		List<Outcome> outcomes = publisher(producer).publish(events);
		assertThat(outcomes).containsExactly(
				new Outcome.Unavailable("A partition of the topic has no leader", Scope.DESTINATION), DELIVERED);
		assertThat(producer.sends()).isOne();
	}

	@Test
	void asksForTheFirstTopicEvenIfThereIsNoTimeForFurtherOnes() {
		try (ProducerThreads threads = new ProducerThreads()) {
			RecordBatch late = new RecordBatch(producer(), threads, settings(), System.nanoTime() - 1);
			EVENTS.forEach(late::send);
			late.send(KafkaEvents.to("others", "key", "2"));
			List<Outcome> outcomes = late.await();
			assertThat(outcomes.subList(0, 3)).containsOnly(DELIVERED);
			assertUnavailable(outcomes.get(3), Scope.DESTINATION);
		}
	}

	@Test
	void replacesABrokenProducerOnce() {
		ScriptedProducer broken = producer().failAtFlush("bad", new OutOfOrderSequenceException("secret"));
		ScriptedProducer next = producer();
		this.created.addAll(List.of(broken, next));
		KafkaOutboxPublisher publisher = new KafkaOutboxPublisher(this::nextProducer, settings());
		publisher.publish(EVENTS);
		assertThat(broken.closed()).isTrue();
		assertThat(publisher.publish(EVENTS)).containsOnly(DELIVERED);
		publisher.close();
		assertThat(next.closed()).isTrue();
	}

	@Test
	void isUnavailableWhileNoProducerCanBeCreated() {
		KafkaOutboxPublisher publisher = new KafkaOutboxPublisher(() -> {
			throw new KafkaException("Failed to construct kafka producer", new ConfigException("No servers"));
		}, settings());
		assertThat(publisher.publish(EVENTS))
			.isEqualTo(Collections.nCopies(3, new Outcome.Unavailable("There is no Kafka producer (No servers)")));
	}

	@Test
	void keepsThePasswordInAnInvalidJaasConfigurationFromOperators() {
		KafkaOutboxPublisher publisher = new KafkaOutboxPublisher(() -> {
			throw new KafkaException("Failed", new IllegalArgumentException("Value not specified for key 'secret'"));
		}, settings());
		publisher.publish(EVENTS).forEach((outcome) -> assertUnavailable(outcome, Scope.PUBLISHER));
	}

	private static void assertUnavailable(Outcome outcome, Scope scope) {
		assertThat(outcome).isInstanceOfSatisfying(Outcome.Unavailable.class, (unavailable) -> {
			assertThat(unavailable.scope()).isEqualTo(scope);
			assertThat(unavailable.reason()).doesNotContain("secret");
		});
	}

	private static ProducerSettings settings() {
		return ProducerSettings.within(Duration.ofSeconds(30));
	}

	private static KafkaOutboxPublisher publisher(ScriptedProducer producer) {
		return new KafkaOutboxPublisher(() -> producer, settings());
	}

	private Producer<byte[], byte[]> nextProducer() {
		return this.created.remove(0);
	}

	private ScriptedProducer producer() {
		return new ScriptedProducer(this.cluster);
	}

	/**
	 * A cluster whose first topic has a partition with another leader.
	 */
	private static Cluster cluster(Node leader) {
		Node[] replicas = { BROKER };
		return new Cluster("test", List.of(BROKER), List.of(new PartitionInfo("orders", 0, leader, replicas, replicas),
				new PartitionInfo("others", 0, BROKER, replicas, replicas)), Set.of(), Set.of());
	}

	/**
	 * Producers that do not return, such as one whose thread has died of an
	 * {@link OutOfMemoryError}.
	 */
	@Timeout(180)
	@Nested
	class LostProducer {

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
			try (KafkaOutboxPublisher publisher = publisher(List.of(() -> dead, LostProducer::producer))) {
				await().until(() -> publisher.publish(EVENTS), List.of(new Outcome.Unavailable(
						"Kafka did not confirm the record in time (TimeoutException)"))::equals);
				await().until(dead::closed);
				await().until(() -> publisher.publish(EVENTS), List.of(new Outcome.Delivered())::equals);
			}
		}

		@Test
		void replacesAProducerThatGetsNoResponseForLong() {
			ScriptedProducer dead = producer().failAtSend("0", new TimeoutException());
			try (KafkaOutboxPublisher publisher = publisher(List.of(() -> dead, LostProducer::producer))) {
				assertThat(publisher.publish(EVENTS)).first().extracting("scope").isEqualTo(Scope.PUBLISHER);
				assertThat(dead.closed()).isFalse();
				await().until(() -> publisher.publish(EVENTS), List.of(new Outcome.Delivered())::equals);
				await().until(dead::closed);
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
			return new Cluster("test", List.of(broker),
					List.of(new PartitionInfo("orders", 0, broker, replicas, replicas)), Set.of(), Set.of());
		}

	}

	/**
	 * A producer that fails as told, by the payloads of the records.
	 */
	private static class ScriptedProducer extends MockProducer<byte[], byte[]> {

		private final Map<String, Exception> atSend = new HashMap<>();

		private final Map<String, Exception> atFlush = new HashMap<>();

		private final Map<CompletableFuture<RecordMetadata>, Exception> pending = new HashMap<>();

		private int sends;

		ScriptedProducer(Cluster cluster) {
			super(cluster, true, null, new ByteArraySerializer(), new ByteArraySerializer());
		}

		ScriptedProducer failAtSend(String payload, Exception failure) {
			this.atSend.put(payload, failure);
			return this;
		}

		ScriptedProducer failAtFlush(String payload, Exception failure) {
			this.atFlush.put(payload, failure);
			return this;
		}

		/**
		 * How many records were passed to it.
		 */
		int sends() {
			return this.sends;
		}

		@Override
		public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
			this.sends++;
			String payload = new String(record.value(), StandardCharsets.UTF_8);
			if (this.atSend.containsKey(payload)) {
				return CompletableFuture.failedFuture(this.atSend.get(payload));
			}
			if (this.atFlush.containsKey(payload)) {
				CompletableFuture<RecordMetadata> future = new CompletableFuture<>();
				this.pending.put(future, this.atFlush.get(payload));
				return future;
			}
			return super.send(record);
		}

		@Override
		public synchronized void flush() {
			this.pending.forEach(CompletableFuture::completeExceptionally);
			super.flush();
		}

	}

}
