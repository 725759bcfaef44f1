package dev.idempotent.autoconfigure.operations;

import dev.idempotent.autoconfigure.outbox.OutboxOperationsAutoConfiguration;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.relay.OutboxRelay;
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
	 * A relay that is switched off must not be woken: that would start it.
	 */
	@Bean
	OutboxEndpoint outboxEndpoint(JdbcOutboxReader reader, DeadEvents deadEvents, OutboxRelay relay) {
		return new OutboxEndpoint(reader, deadEvents, relay, () -> {
			if (relay.isRunning()) {
				relay.wake();
			}
		});
	}

}
