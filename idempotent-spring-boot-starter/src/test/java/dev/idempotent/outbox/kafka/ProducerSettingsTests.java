package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.Map;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.convert.DurationStyle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ProducerSettings}.
 */
class ProducerSettingsTests {

	@Test
	void replacesOnlySettingsThatDeliveryDependsOn() {
		Map<String, Object> settings = ProducerSettings.within(Duration.ofSeconds(30))
			.applyTo(Map.of("acks", "0", "enable.idempotence", "false", "retries", "0", "linger.ms", "60000",
					"transactional.id", "shop", "max.in.flight.requests.per.connection", "50", "compression.type",
					"gzip", "batch.size", "65536", "max.request.size", "2097152"));
		assertThat(settings).containsExactlyInAnyOrderEntriesOf(Map.ofEntries(Map.entry("acks", "all"),
				Map.entry("enable.idempotence", true), Map.entry("retries", Integer.MAX_VALUE),
				Map.entry("linger.ms", 5), Map.entry("max.in.flight.requests.per.connection", 5),
				Map.entry("delivery.timeout.ms", 10_000), Map.entry("request.timeout.ms", 3000),
				Map.entry("max.block.ms", 2000), Map.entry("compression.type", "gzip"),
				Map.entry("batch.size", "65536"), Map.entry("max.request.size", "2097152")));
	}

	@ParameterizedTest
	@CsvSource({ "24h, 10000, 3000, 2000", "30s, 10000, 3000, 2000", "3s, 1000, 300, 200", "15ms, 5, 1, 1",
			"1ms, 1, 1, 1" })
	void limitsEachTimeoutToAShareOfTheLease(String lease, int delivery, int request, int block) {
		Map<String, Object> settings = ProducerSettings.within(DurationStyle.detectAndParse(lease))
			.applyTo(Map.of("bootstrap.servers", "127.0.0.1:1"));
		assertThat(settings).containsEntry("delivery.timeout.ms", delivery)
			.containsEntry("request.timeout.ms", request)
			.containsEntry("max.block.ms", block);
		new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer()).close(Duration.ZERO);
	}

	@ParameterizedTest
	@CsvSource({ "24h", "30s", "3s", "150ms" })
	void leavesHalfOfTheLeaseToABatch(String lease) {
		Duration time = DurationStyle.detectAndParse(lease);
		ProducerSettings settings = ProducerSettings.within(time);
		assertThat(settings.sendTime().plus(settings.maxBlock()).plus(settings.deliveryTimeout()))
			.isLessThanOrEqualTo(time.dividedBy(2));
	}

}
