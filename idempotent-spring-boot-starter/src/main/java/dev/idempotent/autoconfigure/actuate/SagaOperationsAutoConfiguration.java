package dev.idempotent.autoconfigure.actuate;

import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.saga.engine.SagaAdministration.Counts;
import dev.idempotent.saga.engine.SagaDefinition;
import dev.idempotent.saga.engine.SagaEngine;
import dev.idempotent.saga.method.SagaCalls;
import dev.idempotent.saga.method.SagaMethods;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.tracing.Tracer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
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
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration for operating sagas: actuator endpoint, health indicator, metrics
 * and traces. In an application without sagas, nothing of it uses the database before a
 * request to the endpoint.
 */
@AutoConfiguration(
		beforeName = "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration",
		afterName = { "dev.idempotent.autoconfigure.saga.SagaAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration" })
@ConditionalOnBean(SagaMethods.class)
final class SagaOperationsAutoConfiguration {

	/**
	 * How many sagas of each status are counted.
	 */
	private static final int MAX_COUNT = 10_000;

	private static List<String> names(SagaMethods methods) {
		return methods.definitions().stream().map(SagaDefinition::name).toList();
	}

	private static Supplier<Counts> counts(SagaAdministration sagas, SagaMethods methods) {
		return () -> sagas.count(names(methods), MAX_COUNT);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, WebEndpoint.class, AuditApplicationEvent.class })
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		SagaEndpoint sagaEndpoint(@Lazy SagaAdministration sagas, SagaMethods methods,
				ObjectProvider<SagaEngine> engine, ObjectProvider<SagaCalls> calls,
				ApplicationEventPublisher publisher) {
			return new SagaEndpoint(sagas, methods.keys(), counts(sagas, methods), () -> {
				List<String> served = names(methods);
				return served.isEmpty() ? new SagaEndpoint.Instance(null, 0, served)
						: new SagaEndpoint.Instance(engine.getObject().process(), engine.getObject().running(), served);
			}, calls::getObject, publisher);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("saga")
	@EnableConfigurationProperties(SagaHealthIndicator.Properties.class)
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = "sagaHealthIndicator")
		SagaHealthIndicator sagaHealthIndicator(@Lazy SagaAdministration sagas, SagaMethods methods,
				SagaHealthIndicator.Properties properties) {
			return new SagaHealthIndicator(() -> !methods.definitions().isEmpty(), counts(sagas, methods),
					properties.maxDueAge());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class MetricsConfiguration {

		/**
		 * Created with the engine, which it observes.
		 */
		@Bean
		@Lazy
		SagaMetrics sagaMetrics(MeterRegistry registry) {
			return new SagaMetrics(registry);
		}

		/**
		 * Registers the meters once the sagas of the application are known.
		 */
		@Bean
		@Lazy(false)
		SmartInitializingSingleton sagaMeters(MeterRegistry registry, ObjectProvider<SagaMetrics> metrics,
				@Lazy SagaAdministration sagas, SagaMethods methods, ObjectProvider<SagaEngine> engine) {
			MeterBinder gauges = SagaMetrics.gauges(counts(sagas, methods), () -> engine.getObject().running());
			return () -> {
				List<String> served = names(methods);
				if (!served.isEmpty()) {
					metrics.getObject().register(served);
					gauges.bindTo(registry);
				}
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	static class TracingConfiguration {

		/**
		 * Created with the engine, whose sagas it traces.
		 */
		@Bean
		@Lazy
		@ConditionalOnSingleCandidate(Tracer.class)
		SagaSpans sagaSpans(Tracer tracer) {
			return new SagaSpans(tracer);
		}

	}

}
