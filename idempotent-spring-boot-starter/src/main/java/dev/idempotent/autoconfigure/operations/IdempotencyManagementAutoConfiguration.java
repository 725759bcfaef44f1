package dev.idempotent.autoconfigure.operations;

import java.util.Set;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.KeySettings;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.KeyAdministration;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Auto-configuration for operating idempotency keys: actuator endpoint and health
 * indicator.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class,
		beforeName = "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration")
@ConditionalOnBean({ IdempotencyEngine.class, KeyAdministration.class, KeySettings.class })
public final class IdempotencyManagementAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, WebEndpoint.class, AuditApplicationEvent.class })
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		IdempotencyEndpoint idempotencyEndpoint(IdempotencyEngine engine, KeyAdministration keys, KeySettings settings,
				ApplicationEventPublisher publisher) {
			return new IdempotencyEndpoint(engine, keys, settings, new OperatorAudit(publisher));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("idempotency")
	@EnableConfigurationProperties(IdempotencyHealthProperties.class)
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
		IdempotencyHealthIndicator idempotencyHealthIndicator(IdempotencyEngine engine, KeyAdministration keys,
				KeySettings settings, IdempotencyHealthProperties properties,
				ObjectProvider<IdempotencyHealthIndicator.EvictionCheck> eviction) {
			return new IdempotencyHealthIndicator(engine, keys, settings, properties.orHalfOf(settings.maxRun()),
					eviction.getIfAvailable(() -> Set::of));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, RedisConnectionFactory.class })
	@ConditionalOnBean(IdempotencyRedisConnection.class)
	static class RedisConfiguration {

		@Bean
		IdempotencyHealthIndicator.EvictionCheck idempotencyEvictionCheck(IdempotencyRedisConnection connection) {
			return connection::evictionPolicies;
		}

	}

}
