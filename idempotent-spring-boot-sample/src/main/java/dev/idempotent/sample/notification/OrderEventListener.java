package dev.idempotent.sample.notification;

import java.util.Map;

import dev.idempotent.stream.RedisStreamListener;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Listens to the stream of events about orders. It is not idempotent itself, so that all
 * deliveries are counted, including those without an effect.
 */
@Component
@Profile("!kafka")
class OrderEventListener {

	private final Deliveries deliveries;

	private final Notifications notifications;

	OrderEventListener(Deliveries deliveries, Notifications notifications) {
		this.deliveries = deliveries;
		this.notifications = notifications;
	}

	@RedisStreamListener(stream = "orders", group = "notifications")
	void on(OrderEvent event, Map<String, String> headers) {
		this.deliveries.count(headers);
		this.notifications.on(event, headers);
	}

}
