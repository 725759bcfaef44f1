package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.testing.KafkaRecords;
import dev.idempotent.testing.RealKafka;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.support.converter.ByteArrayJacksonJsonMessageConverter;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for consumers of events that the outbox has sent to Kafka.
 */
class EventConsumersIntegrationTests {

	private static final String TOPIC = "orders";

	private static final List<String> GROUPS = List.of("by-header", "by-headers");

	@RegisterExtension
	static final RealKafka kafka = RealKafka.withTopics(TOPIC);

	@Test
	void haveOneEffectOfAnEventThatIsDeliveredTwice() {
		try (ConfigurableApplicationContext shop = OutboxApplication.start(properties(), Shop.class)) {
			shop.getBean(Orders.class).place("42");
			awaitRecords(1);
			ConsumerRecord<byte[], byte[]> first = KafkaRecords.of(kafka.address(), TOPIC).get(0);
			assertThat(new String(first.key(), StandardCharsets.UTF_8)).isEqualTo("42");
			await().until(() -> shop.getBean(KafkaOutboxPublisher.class).publish(List.of(again(first))),
					List.of(new Outcome.Delivered())::equals);
			awaitRecords(2);
			assertThat(shop.getBean(JdbcClient.class)
				.sql("select group_id || ' ' || order_id from shipment order by 1")
				.query(String.class)
				.list()).containsExactly("by-header 42", "by-headers 42");
		}
	}

	/**
	 * Waits until all groups have consumed at least so many records, of which there are
	 * more if Kafka confirms one too late.
	 */
	private static void awaitRecords(int least) {
		GROUPS.forEach((group) -> await().until(() -> {
			int records = KafkaRecords.of(kafka.address(), TOPIC).size();
			return records >= least && kafka.acknowledged(group) == records;
		}));
	}

	private static SerializedEvent again(ConsumerRecord<byte[], byte[]> record) {
		Map<String, String> headers = KafkaRecords.headers(record);
		return new SerializedEvent(UUID.fromString(headers.getOrDefault("ce_id", "")), 1, "kafka:" + TOPIC, "42",
				headers.getOrDefault("ce_type", ""), record.value(), Map.of(), 2);
	}

	private static List<String> properties() {
		List<String> properties = new ArrayList<>(kafka.properties());
		properties.addAll(List.of("idempotent.store=jdbc", "idempotent.jdbc.initialize-schema=always",
				"spring.kafka.consumer.value-deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer"));
		return properties;
	}

	record Order(String id) {
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(KafkaAutoConfiguration.class)
	@ImportMethods
	static class Shop {

		@Bean
		ByteArrayJacksonJsonMessageConverter json() {
			return new ByteArrayJacksonJsonMessageConverter();
		}

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		Shipments shipments(JdbcClient database) {
			database.sql("create table shipment (group_id varchar(20), order_id varchar(20))").update();
			return new Shipments(database);
		}

	}

	static class Orders {

		@Transactional
		@TransactionalOutbox(type = "order.created", topic = "kafka:" + TOPIC, key = "#result.id")
		public Order place(String id) {
			return new Order(id);
		}

	}

	static class Shipments {

		private final JdbcClient database;

		Shipments(JdbcClient database) {
			this.database = database;
		}

		@KafkaListener(topics = TOPIC, groupId = "by-header")
		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "shipments.on")
		public void on(@Payload Order order, @Header("ce_id") String id) {
			ship("by-header", order);
		}

		@KafkaListener(topics = TOPIC, groupId = "by-headers")
		@Transactional
		@Idempotent(key = "#headers['ce_id']", ignore = "headers", guarantee = Guarantee.TRANSACTION,
				name = "shipments.on-all")
		public void onAll(@Payload Order order, @Headers Map<String, Object> headers) {
			ship("by-headers", order);
		}

		private void ship(String group, Order order) {
			this.database.sql("insert into shipment values (?, ?)").params(group, order.id()).update();
		}

	}

}
