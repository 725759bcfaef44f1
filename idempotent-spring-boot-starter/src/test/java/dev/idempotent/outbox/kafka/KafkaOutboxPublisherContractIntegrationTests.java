package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.test.OutboxPublisherContract;
import dev.idempotent.testing.KafkaRecords;
import dev.idempotent.testing.RealKafka;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The contract of publishers for {@link KafkaOutboxPublisher}.
 */
class KafkaOutboxPublisherContractIntegrationTests extends OutboxPublisherContract {

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics();

	private final KafkaOutboxPublisher publisher = KafkaEvents.patientPublisher(kafka.address());

	private final KafkaOutboxPublisher unreachable = KafkaOutboxPublisher
		.connectingTo(Map.of("bootstrap.servers", "127.0.0.1:1"), Duration.ofSeconds(10));

	@AfterEach
	void close() {
		this.publisher.close();
		this.unreachable.close();
	}

	@Override
	protected OutboxPublisher publisher() {
		return this.publisher;
	}

	@Override
	protected OutboxPublisher unreachablePublisher() {
		return this.unreachable;
	}

	@Override
	protected List<Message> received(String destination) {
		return KafkaRecords.of(kafka.address(), destination)
			.stream()
			.map((record) -> new Message(KafkaRecords.headers(record).getOrDefault("ce_id", ""),
					new String(record.value(), StandardCharsets.UTF_8)))
			.toList();
	}

}
