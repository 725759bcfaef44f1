package dev.idempotent.sample.notification;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.kafka.KafkaOutboxPublisher;
import dev.idempotent.sample.ShopClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the shop over its embedded Kafka.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "idempotent.redis.timeout=10s", "spring.data.redis.timeout=10s" })
@Tag("long")
@ActiveProfiles("kafka")
@DirtiesContext
class KafkaOrderEventsIntegrationTests {

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private final KafkaOutboxPublisher publisher;

	KafkaOrderEventsIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc,
			@Autowired KafkaOutboxPublisher publisher) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
		this.publisher = publisher;
	}

	@Test
	void notifyOnceOfAnOrderWhoseEventIsDeliveredTwice() {
		String orderId = this.shop.placeOrder(ShopClient.newUser());
		await().atMost(Duration.ofMinutes(1)).until(() -> events(orderId).size() == 1);
		HandledEvent event = events(orderId).get(0);
		assertThat(event.type()).isEqualTo("order.created");
		String payload = "{\"orderId\":\"%s\",\"item\":\"Coffee coupon\",\"amount\":1}".formatted(orderId);
		assertThat(this.publisher.publish(List.of(new SerializedEvent(event.eventId(), 1, "kafka:orders", orderId,
				event.type(), payload.getBytes(StandardCharsets.UTF_8), Map.of(), 1))))
			.containsExactly(new Outcome.Delivered());
		await().atMost(Duration.ofMinutes(1))
			.until(() -> this.jdbc.sql("select count(*) from delivery where event_id = ?")
				.param(event.eventId())
				.query(Integer.class)
				.single() == 2);
		assertThat(events(orderId)).hasSize(1);
	}

	private List<HandledEvent> events(String orderId) {
		return new Notifications(this.jdbc).handled(UUID.fromString(orderId));
	}

}
