package dev.idempotent.autoconfigure.operations;

import com.github.benmanes.caffeine.cache.Cache;
import dev.idempotent.autoconfigure.idempotency.EffectiveStore;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.idempotency.caffeine.CachingIdempotencyStore;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.tracing.ClaimTraces;
import dev.idempotent.idempotency.tracing.ObservedDecisions;
import dev.idempotent.metrics.IdempotencyMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration for operating idempotency: metrics and traces.
 */
@AutoConfiguration(before = IdempotencyAutoConfiguration.class, afterName = {
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
		"org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
		"org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "idempotent.enabled", matchIfMissing = true)
public final class IdempotencyOperationsAutoConfiguration {

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

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ MeterRegistry.class, Cache.class })
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class CacheMetricsConfiguration {

		@Bean
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
		ObservedDecisions idempotencyObservedDecisions(ObservationRegistry registry,
				ObjectProvider<ClaimTraces> traces) {
			return new ObservedDecisions(registry, traces.getIfAvailable());
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
