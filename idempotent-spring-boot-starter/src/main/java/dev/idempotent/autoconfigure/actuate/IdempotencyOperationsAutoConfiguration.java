package dev.idempotent.autoconfigure.actuate;

import java.util.Set;

import com.github.benmanes.caffeine.cache.Cache;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.EffectiveStore;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration.KeySettings;
import dev.idempotent.idempotency.caffeine.CachingIdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.KeyAdministration;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration for operating idempotency keys: actuator endpoint, health indicator,
 * metrics and traces.
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class,
		beforeName = "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration",
		afterName = {
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration" })
@ConditionalOnBean(IdempotencyEngine.class)
final class IdempotencyOperationsAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, WebEndpoint.class, AuditApplicationEvent.class })
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		IdempotencyEndpoint idempotencyEndpoint(IdempotencyEngine engine, KeyAdministration keys, KeySettings settings,
				ApplicationEventPublisher publisher) {
			return new IdempotencyEndpoint(engine, keys, settings, publisher);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("idempotency")
	@EnableConfigurationProperties(IdempotencyHealthIndicator.Properties.class)
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
		IdempotencyHealthIndicator idempotencyHealthIndicator(IdempotencyEngine engine, KeyAdministration keys,
				KeySettings settings, IdempotencyHealthIndicator.Properties properties,
				ObjectProvider<IdempotencyRedisConnection> redis) {
			return new IdempotencyHealthIndicator(engine, keys, settings, properties.orHalfOf(settings.maxRun()),
					() -> {
						IdempotencyRedisConnection connection = redis.getIfAvailable();
						return (connection != null) ? connection.evictionPolicies() : Set.of();
					});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class MetricsConfiguration {

		@Bean
		IdempotencyMetrics idempotencyMetrics(MeterRegistry registry) {
			return new IdempotencyMetrics(registry);
		}

		@Bean
		MeterBinder idempotencyGauges(IdempotencyEngine engine) {
			return IdempotencyMetrics.gauges(engine::running, engine::settlementsWaiting, engine::oldestUnsettled);
		}

		/**
		 * By name, because the class of the condition may be missing.
		 */
		@Bean
		@ConditionalOnClass(name = "com.github.benmanes.caffeine.cache.Cache")
		MeterBinder idempotencyReplayCacheMeters(ObjectProvider<EffectiveStore> store) {
			return (registry) -> {
				EffectiveStore effective = store.getIfAvailable();
				if (effective != null && effective.store() instanceof CachingIdempotencyStore caching) {
					new CaffeineCacheMetrics<>(caching.cache(), "idempotency-replays", Tags.empty()).bindTo(registry);
				}
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	static class ObservationConfiguration {

		@Bean
		MicrometerIdempotencyObserver micrometerIdempotencyObserver(ObservationRegistry registry,
				ObjectProvider<ClaimTraces> traces) {
			return new MicrometerIdempotencyObserver(registry, traces.getIfAvailable());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	@ConditionalOnBean(Tracer.class)
	static class TracingConfiguration {

		@Bean
		ClaimTraces idempotencyClaimTraces(Tracer tracer) {
			return new ClaimTraces(tracer);
		}

	}

}
