package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.kafka.KafkaOutboxPublisher;
import dev.idempotent.testing.ClassPathWithout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.boot.kafka.autoconfigure.SslBundleSslEngineFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link OutboxKafkaConfiguration}.
 */
class OutboxKafkaConfigurationTests {

	private final ApplicationContextRunner application = OutboxApplication.with()
		.withConfiguration(AutoConfigurations.of(KafkaAutoConfiguration.class, SslAutoConfiguration.class));

	@Test
	void servesTopicsOfKafkaWithoutConnecting() {
		this.application.withPropertyValues("idempotent.outbox.default-topic=kafka:orders").run((context) -> {
			assertThat(context.getBean(OutboxTopics.class)).hasToString("kafka, test (default topic kafka:orders)");
			assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.noneMatch((name) -> name.startsWith("kafka-producer-network-thread | shop-outbox"));
		});
	}

	@Test
	void connectsWithTheDetailsAndSettingsOfTheApplication() {
		this.application.withUserConfiguration(Elsewhere.class)
			.withPropertyValues("idempotent.outbox.relay.lease=3s", "spring.kafka.bootstrap-servers=localhost:2",
					"spring.kafka.producer.transaction-id-prefix=shop-", "spring.kafka.producer.acks=0",
					"spring.kafka.producer.retries=0", "spring.kafka.producer.compression-type=gzip",
					"spring.kafka.producer.value-serializer=org.apache.kafka.common.serialization.StringSerializer")
			.run((context) -> {
				KafkaOutboxPublisher publisher = context.getBean(KafkaOutboxPublisher.class);
				assertThat(publisher.publish(List.of(event()))).hasOnlyElementsOfType(Outcome.Unavailable.class);
				await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
					.contains("kafka-producer-network-thread | shop-outbox"));
				assertThat(context.getBean(Elsewhere.class).asked).isTrue();
			});
	}

	@Test
	void usesSslBundles() {
		this.application
			.withPropertyValues("spring.kafka.ssl.bundle=kafka", "spring.kafka.security.protocol=SSL",
					"spring.kafka.client-id=orders",
					"spring.ssl.bundle.pem.kafka.truststore.certificate=classpath:broker.pem")
			.run((context) -> assertThat(OutboxKafkaConfiguration.settings(context.getBean(KafkaProperties.class),
					context.getBean(KafkaConnectionDetails.class), "shop"))
				.containsEntry("client.id", "orders-outbox")
				.containsEntry("security.protocol", "SSL")
				.containsEntry("ssl.engine.factory.class", SslBundleSslEngineFactory.class)
				.containsEntry(SslBundle.class.getName(), context.getBean(SslBundles.class).getBundle("kafka")));
	}

	@Test
	void leavesThePublisherToTheApplication() {
		this.application.withUserConfiguration(OwnPublisher.class)
			.run((context) -> assertThat(context).getBean(KafkaOutboxPublisher.class)
				.isSameAs(context.getBean("ownPublisher")));
	}

	@Test
	void prefersAPublisherOfTheApplicationWithTheSamePrefix() {
		this.application.withUserConfiguration(OtherKafka.class)
			.run((context) -> assertThat(context.getBean(OutboxTopics.class).publishers())
				.contains(context.getBean("otherKafka", OutboxPublisher.class))
				.noneMatch(KafkaOutboxPublisher.class::isInstance));
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.apache.kafka", "org.springframework.boot.kafka", "org.springframework.kafka" })
	void keepsAnOutboxWithoutKafka(String missing) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withUserConfiguration(classPath.loadClass(Application.class.getName()))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasBean("outboxDeadEvents")
				.doesNotHaveBean("kafkaOutboxPublisher"));
	}

	private static SerializedEvent event() {
		return new SerializedEvent(new UUID(1, 1), 1, "kafka:orders", "key", "order.created", new byte[1], Map.of(), 1);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, OutboxAutoConfiguration.class })
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class Elsewhere {

		private boolean asked;

		@Bean
		KafkaConnectionDetails elsewhere() {
			return () -> {
				this.asked = true;
				return List.of("127.0.0.1:1");
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnPublisher {

		@Bean
		KafkaOutboxPublisher ownPublisher() {
			return KafkaOutboxPublisher.connectingTo(Map.of("bootstrap.servers", "127.0.0.1:1"), Duration.ofSeconds(1));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherKafka {

		@Bean
		OutboxPublisher otherKafka() {
			return new OutboxPublisher() {

				@Override
				public String prefix() {
					return "kafka";
				}

				@Override
				public List<Outcome> publish(List<SerializedEvent> events) {
					return events.stream().map((event) -> (Outcome) new Outcome.Delivered()).toList();
				}

			};
		}

	}

}
