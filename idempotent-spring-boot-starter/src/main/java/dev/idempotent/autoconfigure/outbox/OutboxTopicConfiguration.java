package dev.idempotent.autoconfigure.outbox;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * The topics of the application's publishers. A publisher of the application replaces the
 * auto-configured one with the same prefix.
 */
@Configuration(proxyBeanMethods = false)
class OutboxTopicConfiguration {

	/**
	 * By name, because their technologies are optional.
	 */
	private static final Set<String> OWN = Set.of("dev.idempotent.outbox.kafka.KafkaOutboxPublisher",
			"dev.idempotent.outbox.redis.RedisStreamPublisher", "dev.idempotent.outbox.redis.RedisChannelPublisher");

	@Bean
	OutboxTopics outboxTopics(ObjectProvider<OutboxPublisher> publishers, OutboxProperties properties,
			Environment environment) {
		OutboxTopics topics = new OutboxTopics(withoutReplaced(publishers.orderedStream().toList()),
				properties.defaultTopic(environment));
		properties.topics().keySet().forEach((topic) -> requireServed(topics, topic));
		return topics;
	}

	/**
	 * Leaves out publishers of this library whose prefix one of the application has.
	 */
	private static List<OutboxPublisher> withoutReplaced(List<OutboxPublisher> publishers) {
		Set<String> applications = publishers.stream()
			.filter((publisher) -> !isOwn(publisher))
			.map(OutboxPublisher::prefix)
			.collect(Collectors.toSet());
		return publishers.stream()
			.filter((publisher) -> !isOwn(publisher) || !applications.contains(publisher.prefix()))
			.toList();
	}

	private static boolean isOwn(OutboxPublisher publisher) {
		return OWN.contains(publisher.getClass().getName());
	}

	private static void requireServed(OutboxTopics topics, String topic) {
		if (topic.contains("${")) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.topics.[" + topic + "] has a placeholder, which is not replaced.",
					"Write the name of the topic itself.", null);
		}
		try {
			topics.resolve(topic);
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotentConfigurationException(
					"idempotent.outbox.topics.[" + topic + "]: " + ex.getMessage() + ".",
					"Name a topic of a publisher: \"[kafka:orders]\" in YAML, with quotes; [kafka\\:orders] in a properties file.",
					ex);
		}
	}

}
