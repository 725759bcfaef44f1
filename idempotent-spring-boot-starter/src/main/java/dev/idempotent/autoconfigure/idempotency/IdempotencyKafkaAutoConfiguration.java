package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.kafka.IdempotencyBackOff;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.listener.AfterRollbackProcessor;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.transaction.KafkaAwareTransactionManager;

/**
 * Lets Kafka listener containers wait for keys that are claimed elsewhere, where they
 * would skip the record after ten deliveries. The application's own handlers are left as
 * they are.
 */
@AutoConfiguration(after = KafkaAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
@ConditionalOnClass({ KafkaAutoConfiguration.class, DefaultErrorHandler.class })
public final class IdempotencyKafkaAutoConfiguration {

	/**
	 * A container with Kafka transactions has no such handler by default.
	 */
	@Bean
	@ConditionalOnMissingBean({ CommonErrorHandler.class, KafkaAwareTransactionManager.class })
	DefaultErrorHandler idempotencyKafkaErrorHandler() {
		return IdempotencyBackOff.addTo(new DefaultErrorHandler());
	}

	@Bean
	@ConditionalOnBean(KafkaAwareTransactionManager.class)
	@ConditionalOnMissingBean(AfterRollbackProcessor.class)
	DefaultAfterRollbackProcessor<Object, Object> idempotencyKafkaRollbackProcessor() {
		return IdempotencyBackOff.addTo(new DefaultAfterRollbackProcessor<>());
	}

}
