package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.KafkaRecords;
import dev.idempotent.testing.RealKafka;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link KafkaOutboxPublisher} on a broker.
 */
class KafkaOutboxPublisherIntegrationTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Outcome DELIVERED = new Outcome.Delivered();

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics()
		.with("auto.create.topics.enable", "false")
		.with("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
		.with("allow.everyone.if.no.acl.found", "true");

	private final KafkaOutboxPublisher publisher = KafkaEvents.patientPublisher(kafka.address());

	private final String topic = topic(2);

	@AfterEach
	void close() {
		this.publisher.close();
	}

	@Test
	void sendsKeyHeadersAndPayloadUnchanged() {
		byte[] payload = new byte[256];
		IntStream.range(0, payload.length).forEach((i) -> payload[i] = (byte) i);
		SerializedEvent event = KafkaEvents.to(this.topic, "schlüssel", payload,
				Map.of("ce_source", "/shop", "content-type", "application/octet-stream", "traceparent", "00-1-2-01"));
		assertThat(this.publisher.publish(List.of(event))).containsExactly(DELIVERED);
		ConsumerRecord<byte[], byte[]> record = KafkaRecords.of(kafka.address(), this.topic).get(0);
		assertThat(record.key()).isEqualTo("schlüssel".getBytes(StandardCharsets.UTF_8));
		assertThat(record.value()).isEqualTo(payload);
		assertThat(KafkaRecords.headers(record)).containsExactlyInAnyOrderEntriesOf(
				Map.of("ce_specversion", "1.0", "ce_id", event.id().toString(), "ce_type", "order.created",
						"ce_subject", "schlüssel", "ce_partitionkey", "schlüssel", "ce_sequence", "0000000000000000042",
						"ce_source", "/shop", "content-type", "application/octet-stream", "traceparent", "00-1-2-01"));
	}

	@Test
	void sendsEventsWithoutAKey() {
		assertThat(this.publisher.publish(List.of(KafkaEvents.to(this.topic, null, "0")))).containsExactly(DELIVERED);
		assertThat(KafkaRecords.of(kafka.address(), this.topic)).singleElement()
			.satisfies((record) -> assertThat(record.key()).isNull());
	}

	@Test
	void keepsTheOrderOfAKeyInOnePartition() {
		for (String key : List.of("a", "b", "c", "d")) {
			assertThat(this.publisher.publish(KafkaEvents.numbered(this.topic, key, 100))).hasSize(100)
				.containsOnly(DELIVERED);
		}
		Map<String, Set<Integer>> partitions = new HashMap<>();
		Map<String, StringBuilder> payloads = new HashMap<>();
		KafkaRecords.of(kafka.address(), this.topic).forEach((record) -> {
			String key = new String(record.key(), StandardCharsets.UTF_8);
			partitions.computeIfAbsent(key, (name) -> new HashSet<>()).add(record.partition());
			payloads.computeIfAbsent(key, (name) -> new StringBuilder())
				.append(new String(record.value(), StandardCharsets.UTF_8));
		});
		String numbers = String.join("", IntStream.range(0, 100).mapToObj(Integer::toString).toList());
		assertThat(partitions.values()).allSatisfy((all) -> assertThat(all).hasSize(1));
		assertThat(payloads.values()).hasSize(4).allSatisfy((all) -> assertThat(all).hasToString(numbers));
	}

	@Test
	void deliversTheEventsAroundRejectedOnes() {
		List<Outcome> outcomes = this.publisher.publish(List.of(KafkaEvents.to(this.topic, "key", "0"),
				KafkaEvents.to(this.topic, "key", new byte[2_000_000], Map.of()),
				KafkaEvents.to("no topic at all", "key", "lost"), KafkaEvents.to(this.topic, "key", "1")));
		assertThat(outcomes).containsExactly(DELIVERED,
				new Outcome.Reject("Kafka rejects the record (RecordTooLargeException)"),
				new Outcome.Reject("Kafka rejects the record (InvalidTopicException)"), DELIVERED);
		assertThat(KafkaRecords.payloads(kafka.address(), this.topic)).containsExactly("0", "1");
	}

	@Test
	void deliversTheEventsBesideOneWithAnInvalidHeaderName() {
		List<SerializedEvent> events = List.of(KafkaEvents.to(this.topic, "key", "0"),
				KafkaEvents.to(this.topic, "key", new byte[] { '1' }, Map.of("tenant\ud800", "\ud800")),
				KafkaEvents.to(this.topic, "key", "2"));
		assertThat(this.publisher.publish(events)).hasSize(3).containsOnly(DELIVERED);
		assertThat(KafkaRecords.headers(KafkaRecords.of(kafka.address(), this.topic).get(1))).containsEntry("tenant?",
				"?");
	}

	@Test
	void keepsItsProducerAndTheEventsBesideARecordThatKafkaRejects() {
		String compacted = "state-" + UUID.randomUUID();
		inKafka((admin) -> admin
			.createTopics(List.of(new NewTopic(compacted, 1, (short) 1).configs(Map.of("cleanup.policy", "compact"))))
			.all());
		Outcome kept = new Outcome.Unavailable("Kafka rejected another record of the same request", Scope.DESTINATION);
		List<SerializedEvent> valid = KafkaEvents.numbered(compacted, "key", 1);
		List<Outcome> outcomes = this.publisher
			.publish(List.of(valid.get(0), KafkaEvents.to(compacted, null, "a key is required")));
		assertThat(outcomes.get(0)).isIn(kept, DELIVERED);
		assertThat(outcomes.get(1)).isEqualTo(new Outcome.Reject("Kafka rejects the record (InvalidRecordException)"));
		assertThat(this.publisher.publish(valid)).containsExactly(DELIVERED);
	}

	@Test
	void keepsTheEventsOfAMissingTopicAndDeliversTheOthers() {
		String missing = "missing-" + UUID.randomUUID();
		try (KafkaOutboxPublisher hasty = publisher(kafka.address(), LEASE)) {
			awaitDelivery(hasty, this.topic);
			long start = System.nanoTime();
			List<Outcome> outcomes = hasty
				.publish(List.of(KafkaEvents.to(missing, "key", "0"), KafkaEvents.to(this.topic, "key", "0"),
						KafkaEvents.to(missing, "key", "1"), KafkaEvents.to(missing, null, "2")));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(1900));
			Outcome unavailable = new Outcome.Unavailable(
					"Kafka did not confirm the record in time (UnknownTopicOrPartitionException)", Scope.DESTINATION);
			assertThat(outcomes).containsExactly(unavailable, DELIVERED, unavailable, unavailable);
			create(missing, 1);
			awaitDelivery(hasty, missing);
		}
	}

	@ParameterizedTest
	@EnumSource(value = AclOperation.class, names = { "DESCRIBE", "WRITE" })
	void keepsTheEventsOfATopicThatItMayNotWriteTo(AclOperation denied) {
		String secret = topic(1);
		AclBinding binding = new AclBinding(new ResourcePattern(ResourceType.TOPIC, secret, PatternType.LITERAL),
				new AccessControlEntry("User:ANONYMOUS", "*", denied, AclPermissionType.DENY));
		inKafka((admin) -> admin.createAcls(List.of(binding)).all());
		Outcome unavailable = new Outcome.Unavailable(
				"Kafka currently rejects records for the topic (TopicAuthorizationException)", Scope.DESTINATION);
		assertThat(this.publisher
			.publish(List.of(KafkaEvents.to(secret, "key", "0"), KafkaEvents.to(this.topic, "key", "0"))))
			.containsExactly(unavailable, DELIVERED);
		inKafka((admin) -> admin.deleteAcls(List.of(binding.toFilter())).all());
		awaitDelivery(this.publisher, secret);
	}

	@Test
	void spendsNoMoreThanHalfALeaseOnMissingTopics() {
		Duration lease = Duration.ofMinutes(1);
		try (KafkaOutboxPublisher hasty = publisher(kafka.address(), lease)) {
			List<SerializedEvent> events = IntStream.range(0, 50)
				.mapToObj((i) -> KafkaEvents.to("missing-" + i, "key", "0"))
				.toList();
			long start = System.nanoTime();
			assertThat(hasty.publish(events)).hasSize(50)
				.allSatisfy((outcome) -> assertThat(outcome).extracting("scope").isEqualTo(Scope.DESTINATION));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(lease.dividedBy(2));
		}
	}

	@Test
	void isUnavailableWithoutABroker() {
		try (KafkaOutboxPublisher lonely = publisher("127.0.0.1:1", Duration.ofSeconds(3))) {
			assertThat(lonely
				.publish(List.of(KafkaEvents.to(this.topic, "key", "0"), KafkaEvents.to(this.topic, "key", "1"))))
				.hasSize(2)
				.containsOnly(new Outcome.Unavailable("Kafka did not confirm the record in time (TimeoutException)"));
		}
	}

	@Test
	void isUnavailableWhileTheNameOfABrokerCannotBeResolved() {
		try (KafkaOutboxPublisher lost = publisher("kafka.invalid:9092", LEASE)) {
			assertThat(lost.publish(List.of(KafkaEvents.to(this.topic, "key", "0"))))
				.hasOnlyElementsOfType(Outcome.Unavailable.class);
		}
	}

	@Test
	void leavesItsEventsToOthersWhenItIsInterrupted() {
		Thread.currentThread().interrupt();
		List<Outcome> outcomes = this.publisher.publish(KafkaEvents.numbered(this.topic, "key", 2));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(outcomes)
			.containsOnly(new Outcome.Unavailable("The Kafka producer cannot send (InterruptException)"))
			.hasSize(2);
		assertThat(this.publisher.publish(KafkaEvents.numbered(this.topic, "key", 2))).containsOnly(DELIVERED);
	}

	@Test
	void isUnavailableOnceItIsClosed() {
		this.publisher.publish(List.of(KafkaEvents.to(this.topic, "key", "0")));
		this.publisher.close();
		assertThat(this.publisher.publish(List.of(KafkaEvents.to(this.topic, "key", "1"))))
			.containsExactly(new Outcome.Unavailable("There is no Kafka producer (The publisher has been closed)"));
		assertThat(KafkaRecords.payloads(kafka.address(), this.topic)).containsExactly("0");
	}

	private static KafkaOutboxPublisher publisher(String brokers, Duration lease) {
		return KafkaOutboxPublisher.connectingTo(Map.of("bootstrap.servers", brokers, "client.id", "test"), lease);
	}

	private static void awaitDelivery(KafkaOutboxPublisher publisher, String topic) {
		await().atMost(Duration.ofMinutes(1))
			.until(() -> publisher.publish(List.of(KafkaEvents.to(topic, "key", "0"))).get(0), DELIVERED::equals);
	}

	private static String topic(int partitions) {
		String topic = "orders-" + UUID.randomUUID();
		create(topic, partitions);
		return topic;
	}

	/**
	 * Creates a topic and waits for the leaders of its partitions. Otherwise, a leader
	 * could refuse the first of two records and take the second one, and then refuse the
	 * first one until it times out.
	 * @see <a href="https://issues.apache.org/jira/browse/KAFKA-14359">KAFKA-14359</a>
	 */
	private static void create(String topic, int partitions) {
		inKafka((admin) -> admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all());
		inKafka((admin) -> admin
			.listOffsets(IntStream.range(0, partitions)
				.boxed()
				.collect(Collectors.toMap((number) -> new TopicPartition(topic, number),
						(number) -> OffsetSpec.latest())))
			.all());
	}

	private static void inKafka(Function<Admin, KafkaFuture<?>> request) {
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.address()))) {
			request.apply(admin).toCompletionStage().toCompletableFuture().join();
		}
	}

}
