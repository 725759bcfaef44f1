package dev.idempotent.outbox.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.crash.EventBroker.PublishedEvent;
import dev.idempotent.testing.KafkaRecords;
import dev.idempotent.testing.kafka.KafkaCluster;
import dev.idempotent.testing.kafka.KafkaServer;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * A topic of a Kafka server with three partitions.
 */
final class KafkaBroker implements EventBroker {

	private static final String TOPIC = "orders";

	private final KafkaCluster cluster;

	private final KafkaServer server;

	KafkaBroker() {
		try {
			this.cluster = KafkaCluster.start(1);
			this.cluster.createTopic(new NewTopic(TOPIC, 3, (short) 1));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		this.server = this.cluster.server(1);
	}

	@Override
	public String topic() {
		return "kafka:" + TOPIC;
	}

	@Override
	public Duration lease() {
		return Duration.ofSeconds(6);
	}

	@Override
	public List<String> properties() {
		return List.of("spring.kafka.bootstrap-servers=" + this.cluster.addresses());
	}

	@Override
	public Map<String, Runnable> faults() {
		return Map.of("pause", this.server::pause);
	}

	@Override
	public void kill() {
		this.server.kill();
	}

	@Override
	public void start() {
		this.server.start();
		this.cluster.awaitAll();
	}

	@Override
	public void resume() {
		this.server.resume();
	}

	@Override
	public List<PublishedEvent> read() {
		return KafkaRecords.of(this.cluster.addresses(), TOPIC)
			.stream()
			.map((record) -> new PublishedEvent(KafkaRecords.headers(record),
					new String(record.value(), StandardCharsets.UTF_8), Instant.ofEpochMilli(record.timestamp())))
			.toList();
	}

	@Override
	public void close() {
		try {
			this.cluster.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
