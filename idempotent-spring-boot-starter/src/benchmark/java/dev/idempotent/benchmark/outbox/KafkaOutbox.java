package dev.idempotent.benchmark.outbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Throughput;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.testing.kafka.KafkaCluster;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;

/**
 * This project's outbox with its Kafka publisher, and a producer beside it, with one
 * broker in a JVM of its own.
 */
final class KafkaOutbox implements Contender {

	static final String NAME = "ours-kafka";

	private static final int PARTITIONS = 4;

	private static final int BATCH = 500;

	/**
	 * As many headers as an event has.
	 */
	private static final int HEADERS = 6;

	private static final int PAYLOAD = 250;

	private static final int KEYS = 10_000;

	private final KafkaCluster kafka;

	private final Shop shop;

	private final Outbox outbox;

	private final OutboxRelay relay;

	KafkaOutbox(Servers servers) {
		this.kafka = start();
		this.shop = Shop.open("ours_kafka", servers, OwnOutbox.Empty.class, "namastack.outbox.enabled=false",
				"idempotent.outbox.initialize-schema=always", "idempotent.outbox.default-topic=kafka:events",
				"spring.kafka.bootstrap-servers=" + this.kafka.addresses());
		this.outbox = this.shop.application().bean(Outbox.class);
		this.relay = this.shop.application().bean(OutboxRelay.class);
		this.relay.stop();
	}

	private static KafkaCluster start() {
		try {
			KafkaCluster started = KafkaCluster.start(1);
			for (String topic : List.of("events", "bare")) {
				started.createTopic(new NewTopic(topic, PARTITIONS, (short) 1));
			}
			return started;
		}
		catch (Exception ex) {
			throw new IllegalStateException("Kafka did not start", ex);
		}
	}

	@Override
	public String name() {
		return NAME;
	}

	Database database() {
		return this.shop.database();
	}

	long place(boolean ordered) {
		return this.shop.place((order) -> {
			OutboxEvent event = OutboxEvent.of("order.placed", order).toTopic("kafka:events");
			this.outbox.append(ordered ? event.withKey("order-" + order.number() % KEYS) : event);
		});
	}

	/**
	 * Delivers a backlog.
	 */
	Throughput drain(int backlog) {
		Map<String, Object> settings = Map.of("bootstrap.servers", this.kafka.addresses());
		try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(),
				new ByteArrayDeserializer())) {
			List<TopicPartition> partitions = IntStream.range(0, PARTITIONS)
				.mapToObj((partition) -> new TopicPartition("events", partition))
				.toList();
			long before = records(consumer, partitions);
			long begin = System.nanoTime();
			this.relay.start();
			Awaitility.await()
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(2))
				.atMost(Duration.ofMinutes(5))
				.until(() -> records(consumer, partitions) - before >= backlog);
			Throughput drained = new Throughput(backlog, System.nanoTime() - begin);
			this.relay.stop();
			return drained;
		}
	}

	private static long records(KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
		return consumer.endOffsets(partitions).values().stream().mapToLong(Long::longValue).sum();
	}

	/**
	 * Sends records like the records of events, with a flush after 500.
	 */
	Throughput sendBare(int count) {
		Map<String, Object> settings = Map.of("bootstrap.servers", this.kafka.addresses(), "acks", "all",
				"enable.idempotence", true);
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(),
				new ByteArraySerializer())) {
			producer.partitionsFor("bare");
			byte[] header = "x".repeat(20).getBytes(StandardCharsets.US_ASCII);
			List<Future<RecordMetadata>> sent = new ArrayList<>();
			long begin = System.nanoTime();
			for (int i = 1; i <= count; i++) {
				ProducerRecord<byte[], byte[]> event = new ProducerRecord<>("bare", new byte[PAYLOAD]);
				IntStream.range(0, HEADERS).forEach((number) -> event.headers().add("ce_header" + number, header));
				sent.add(producer.send(event));
				if (i % BATCH == 0) {
					producer.flush();
				}
			}
			producer.flush();
			long took = System.nanoTime() - begin;
			if (sent.stream().anyMatch((each) -> !isAcknowledged(each))) {
				throw new IllegalStateException("A record was not acknowledged");
			}
			return new Throughput(count, took);
		}
	}

	private static boolean isAcknowledged(Future<RecordMetadata> sent) {
		try {
			return sent.get().hasOffset();
		}
		catch (ExecutionException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	@Override
	public void close() {
		this.shop.close();
		try {
			this.kafka.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
