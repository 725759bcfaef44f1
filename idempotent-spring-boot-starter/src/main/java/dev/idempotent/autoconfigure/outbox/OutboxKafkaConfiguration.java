package dev.idempotent.autoconfigure.outbox;

import java.util.Map;

import dev.idempotent.outbox.kafka.KafkaOutboxPublisher;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.config.SslConfigs;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.boot.kafka.autoconfigure.SslBundleSslEngineFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.StringUtils;

/**
 * Publishes events to the application's Kafka, with a producer of its own. Connects with
 * the first event.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ Producer.class, KafkaConnectionDetails.class })
@ConditionalOnBean({ KafkaConnectionDetails.class, KafkaProperties.class })
class OutboxKafkaConfiguration {

	@Bean
	@ConditionalOnMissingBean
	KafkaOutboxPublisher kafkaOutboxPublisher(KafkaProperties properties, KafkaConnectionDetails details,
			OutboxProperties outbox, @Value("${spring.application.name:}") String applicationName) {
		return KafkaOutboxPublisher.connectingTo(settings(properties, details, applicationName),
				outbox.relay().lease());
	}

	static Map<String, Object> settings(KafkaProperties properties, KafkaConnectionDetails details,
			String applicationName) {
		Map<String, Object> settings = properties.buildProducerProperties();
		connect(settings, details.getProducer());
		Object clientId = settings.getOrDefault(CommonClientConfigs.CLIENT_ID_CONFIG, applicationName);
		// Must differ from the ids of the application's own producers, because all are
		// registered in JMX.
		settings.put(CommonClientConfigs.CLIENT_ID_CONFIG, clientId.equals("") ? "outbox" : clientId + "-outbox");
		return settings;
	}

	/**
	 * Applies the connection details as Spring Boot does for its own producers.
	 */
	private static void connect(Map<String, Object> settings, KafkaConnectionDetails.Configuration details) {
		settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, details.getBootstrapServers());
		if (StringUtils.hasLength(details.getSecurityProtocol())) {
			settings.put(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG, details.getSecurityProtocol());
		}
		SslBundle bundle = details.getSslBundle();
		if (bundle != null) {
			settings.put(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG, SslBundleSslEngineFactory.class);
			settings.put(SslBundle.class.getName(), bundle);
		}
	}

}
