package dev.idempotent.autoconfigure.operations;

import dev.idempotent.autoconfigure.outbox.OutboxOperationsAutoConfiguration;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Lets the application's health tell of the outbox.
 */
@AutoConfiguration(after = OutboxOperationsAutoConfiguration.class,
		beforeName = "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration")
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean(JdbcOutboxReader.class)
@ConditionalOnEnabledHealthIndicator("outbox")
@EnableConfigurationProperties(OutboxHealthProperties.class)
public final class OutboxHealthAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "outboxHealthIndicator")
	OutboxHealthIndicator outboxHealthIndicator(JdbcOutboxReader reader, OutboxRelay relay,
			OutboxHealthProperties properties) {
		return new OutboxHealthIndicator(reader, relay, properties.maxAge());
	}

}
