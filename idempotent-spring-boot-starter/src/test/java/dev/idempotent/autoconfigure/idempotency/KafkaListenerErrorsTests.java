package dev.idempotent.autoconfigure.idempotency;

import java.time.InstantSource;

import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.listener.CommonContainerStoppingErrorHandler;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.DefaultErrorHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what Kafka listener containers do with failures.
 */
class KafkaListenerErrorsTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(KafkaAutoConfiguration.class, IdempotencyAutoConfiguration.class,
				IdempotencyMethodAutoConfiguration.class))
		.withBean(InMemoryIdempotencyStore.class, () -> new InMemoryIdempotencyStore(InstantSource.system()))
		.withPropertyValues("idempotent.namespace=shop");

	@Test
	void addAnErrorHandlerWithBackOffToContainers() {
		this.application.run((context) -> assertThat(container(context.getBean(factory())).getCommonErrorHandler())
			.isSameAs(context.getBean(DefaultErrorHandler.class)));
	}

	@Test
	void useTheHandlerOfTheApplication() {
		this.application.withUserConfiguration(OwnHandler.class)
			.run((context) -> assertThat(context).getBean(CommonErrorHandler.class)
				.isInstanceOf(CommonContainerStoppingErrorHandler.class));
	}

	@Test
	void givesContainersWithKafkaTransactionsAnAfterRollbackProcessorInstead() {
		this.application.withPropertyValues("spring.kafka.producer.transaction-id-prefix=test-").run((context) -> {
			ConcurrentMessageListenerContainer<?, ?> container = container(context.getBean(factory()));
			assertThat(container.getAfterRollbackProcessor())
				.isSameAs(context.getBean(DefaultAfterRollbackProcessor.class));
			assertThat(container.getCommonErrorHandler()).isNull();
		});
	}

	@Test
	void useBootsHandlerIfIdempotencyIsDisabled() {
		this.application.withPropertyValues("idempotent.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(CommonErrorHandler.class));
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static Class<ConcurrentKafkaListenerContainerFactory<?, ?>> factory() {
		return (Class) ConcurrentKafkaListenerContainerFactory.class;
	}

	private static ConcurrentMessageListenerContainer<?, ?> container(
			ConcurrentKafkaListenerContainerFactory<?, ?> factory) {
		return factory.createContainer("payments");
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnHandler {

		@Bean
		CommonErrorHandler stopping() {
			return new CommonContainerStoppingErrorHandler();
		}

	}

}
