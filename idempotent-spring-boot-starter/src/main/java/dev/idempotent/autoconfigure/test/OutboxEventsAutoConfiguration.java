package dev.idempotent.autoconfigure.test;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.test.OutboxEvents;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.test.context.event.BeforeTestMethodEvent;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * Auto-configuration for {@link OutboxEvents}, which begin empty in each test.
 */
@AutoConfiguration
@ConditionalOnClass(TransactionSynchronization.class)
final class OutboxEventsAutoConfiguration {

	@Bean
	OutboxEvents outboxEvents(ObjectProvider<OutboxRelay> relay) {
		return new OutboxEvents(() -> {
			OutboxRelay own = relay.getIfAvailable();
			return (own != null) ? own.runHandlers() : 0;
		});
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanPostProcessor outboxEventsRecorder(ObjectProvider<OutboxEvents> events) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof Outbox outbox) ? events.getObject().record(outbox) : bean;
			}

		};
	}

	@Bean
	ApplicationListener<BeforeTestMethodEvent> outboxEventsOfEachTest(OutboxEvents events) {
		return (event) -> events.clear();
	}

}
