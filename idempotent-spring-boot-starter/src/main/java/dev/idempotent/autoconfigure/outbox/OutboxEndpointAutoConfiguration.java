package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.courier.OutboxCourier;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * Gives the actuator its endpoint {@code outbox}.
 */
@AutoConfiguration(after = OutboxOperationsAutoConfiguration.class)
@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, WebEndpoint.class })
@ConditionalOnBean(JdbcOutboxReader.class)
@ConditionalOnAvailableEndpoint(OutboxEndpoint.class)
public final class OutboxEndpointAutoConfiguration {

	/**
	 * A courier that is switched off must not be woken: that would start it.
	 */
	@Bean
	OutboxEndpoint outboxEndpoint(JdbcOutboxReader reader, DeadEvents deadEvents, OutboxCourier courier,
			OutboxCourierProperties properties) {
		return new OutboxEndpoint(reader, deadEvents, courier, properties.enabled() ? courier::wake : () -> {
		});
	}

}
