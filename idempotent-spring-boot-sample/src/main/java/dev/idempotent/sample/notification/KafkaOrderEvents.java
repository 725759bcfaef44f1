package dev.idempotent.sample.notification;

import java.util.Map;

import org.apache.kafka.clients.admin.NewTopic;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.support.converter.ByteArrayJacksonJsonMessageConverter;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

/**
 * Listens to the topic of events about orders, instead of the stream. It is not
 * idempotent itself, so that all deliveries are counted.
 */
@Configuration(proxyBeanMethods = false)
@Profile("kafka")
class KafkaOrderEvents {

	private static final String TOPIC = "${sample.events.topic}";

	private static final int PARTITIONS = 3;

	private final Deliveries deliveries;

	private final Notifications notifications;

	KafkaOrderEvents(Deliveries deliveries, Notifications notifications) {
		this.deliveries = deliveries;
		this.notifications = notifications;
	}

	@KafkaListener(topics = TOPIC, groupId = "notifications")
	void on(@Payload OrderEvent event, @Header("ce_id") String id, @Header("ce_type") String type) {
		Map<String, String> headers = Map.of("ce_id", id, "ce_type", type);
		this.deliveries.count(headers);
		this.notifications.on(event, headers);
	}

	/**
	 * Created by the application, because brokers seldom create topics by themselves.
	 */
	@Bean
	static NewTopic orderEvents(@Value(TOPIC) String topic) {
		return TopicBuilder.name(topic).partitions(PARTITIONS).build();
	}

	/**
	 * Reads the payload into the type of the parameter.
	 */
	@Bean
	static ByteArrayJacksonJsonMessageConverter jsonOfEvents() {
		return new ByteArrayJacksonJsonMessageConverter();
	}

}
