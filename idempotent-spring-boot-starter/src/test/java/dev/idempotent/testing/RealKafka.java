package dev.idempotent.testing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;
import org.springframework.util.Assert;

/**
 * A Kafka broker for a test class, registered as a static field:
 * {@code @RegisterExtension static final RealKafka kafka = RealKafka.withTopics("orders");}.
 * It runs in this JVM.
 */
public final class RealKafka implements BeforeAllCallback, AfterAllCallback {

	/**
	 * How many partitions each topic has.
	 */
	public static final int PARTITIONS = 2;

	private final String[] topics;

	private final Map<String, String> settings = new HashMap<>(Map.of("offsets.topic.num.partitions", "1"));

	private @Nullable EmbeddedKafkaBroker broker;

	private RealKafka(String[] topics) {
		this.topics = topics;
	}

	public static RealKafka withTopics(String... topics) {
		return new RealKafka(topics);
	}

	/**
	 * Gives the broker a setting.
	 */
	public RealKafka with(String name, String value) {
		this.settings.put(name, value);
		return this;
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		this.broker = new EmbeddedKafkaKraftBroker(1, PARTITIONS, this.topics).brokerProperties(this.settings);
		this.broker.afterPropertiesSet();
	}

	@Override
	public void afterAll(ExtensionContext context) {
		if (this.broker != null) {
			this.broker.destroy();
		}
	}

	public String address() {
		Assert.state(this.broker != null, "Kafka is only there while its test class runs");
		return this.broker.getBrokersAsString();
	}

	/**
	 * How many records a group has acknowledged.
	 */
	public long acknowledged(String group) {
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", address()))) {
			return admin.listConsumerGroupOffsets(group)
				.partitionsToOffsetAndMetadata()
				.get()
				.values()
				.stream()
				.mapToLong(OffsetAndMetadata::offset)
				.sum();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * What tells an application where the broker is and how records are written, as
	 * {@code name=value}.
	 */
	public List<String> properties() {
		String serializers = "org.springframework.kafka.support.serializer.JacksonJson";
		return List.of("spring.kafka.bootstrap-servers=" + address(),
				"spring.kafka.consumer.auto-offset-reset=earliest",
				// A redelivery comes when the fetch that was under way has ended.
				"spring.kafka.consumer.fetch-max-wait=20ms",
				"spring.kafka.producer.value-serializer=" + serializers + "Serializer",
				"spring.kafka.consumer.value-deserializer=" + serializers + "Deserializer",
				"spring.kafka.consumer.properties[spring.json.trusted.packages]=dev.idempotent.*");
	}

}
