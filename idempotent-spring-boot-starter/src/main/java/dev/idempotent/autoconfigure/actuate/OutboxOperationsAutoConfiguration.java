package dev.idempotent.autoconfigure.actuate;

import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import dev.idempotent.autoconfigure.outbox.OutboxActivation;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.OutboxHeaderContributor;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.OutboxOperations;
import dev.idempotent.outbox.relay.OutboxRelay;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
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
 * Auto-configuration for operating an outbox: actuator endpoint, health indicator,
 * metrics and tracing.
 */
@AutoConfiguration(
		beforeName = "org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration",
		afterName = { "dev.idempotent.autoconfigure.outbox.OutboxAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration" })
@ConditionalOnBean(OutboxActivation.class)
final class OutboxOperationsAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, WebEndpoint.class })
	@EnableConfigurationProperties(OutboxEndpoint.Properties.class)
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		OutboxEndpoint outboxEndpoint(OutboxOperations operations, DeadEvents deadEvents, TopicControl control,
				OutboxTopics topics, OutboxActivation activation, ObjectProvider<OutboxRelay> relay,
				ApplicationEventPublisher publisher, OutboxEndpoint.Properties properties) {
			Supplier<@Nullable OutboxRelay> active = () -> activation.isActive() ? relay.getObject() : null;
			return new OutboxEndpoint(operations, deadEvents, control, topics, active, publisher, properties);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnEnabledHealthIndicator("outbox")
	@EnableConfigurationProperties(OutboxHealthIndicator.Properties.class)
	static class HealthConfiguration {

		@Bean
		@ConditionalOnMissingBean(name = "outboxHealthIndicator")
		OutboxHealthIndicator outboxHealthIndicator(OutboxOperations operations, OutboxActivation activation,
				ObjectProvider<OutboxRelay> relay, OutboxHealthIndicator.Properties properties) {
			return new OutboxHealthIndicator(operations, () -> activation.isActive() ? relay.getObject() : null,
					properties.maxAge());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class MetricsConfiguration {

		/**
		 * Created with the relay, which it observes.
		 */
		@Bean
		@Lazy
		OutboxMetrics outboxMetrics(MeterRegistry registry, OutboxTopics topics) {
			return new OutboxMetrics(registry, topics.publishers().stream().map(OutboxPublisher::prefix).toList());
		}

		/**
		 * Binds its gauges once the outbox is on.
		 */
		@Bean
		MeterBinder outboxGauges(OutboxOperations operations, OutboxActivation activation,
				ObjectProvider<OutboxRelay> relay) {
			MeterBinder gauges = OutboxMetrics.gauges(() -> relay.getObject().lastPass(), operations::summary,
					() -> relay.getObject().unavailablePublishers().size(),
					() -> relay.getObject().pausedTopics().size());
			return (registry) -> activation.whenActive(() -> gauges.bindTo(registry));
		}

	}

	/**
	 * The bean is created with the first handler.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	static class ObservationConfiguration {

		@Bean
		@Lazy
		@ConditionalOnSingleCandidate(ObservationRegistry.class)
		ReceivedEvents outboxHandlerObservation(ObservationRegistry registry) {
			return new ReceivedEvents(registry);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	static class TracingConfiguration {

		/**
		 * Adds the trace context of the span in which an event is appended, as the
		 * propagator of the application writes it; nothing without a span.
		 */
		@Bean
		@ConditionalOnBean({ Tracer.class, Propagator.class })
		OutboxHeaderContributor outboxTraceHeaders(Tracer tracer, Propagator propagator) {
			return (headers) -> {
				TraceContext context = tracer.currentTraceContext().context();
				if (context != null) {
					propagator.<BiConsumer<String, String>>inject(context, headers,
							(carrier, name, value) -> headers.accept(name.toLowerCase(Locale.ROOT), value));
				}
			};
		}

	}

}
