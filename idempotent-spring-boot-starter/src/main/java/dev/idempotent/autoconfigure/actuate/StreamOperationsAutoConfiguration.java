package dev.idempotent.autoconfigure.actuate;

import java.util.List;
import java.util.Map;

import dev.idempotent.stream.RedeliveryPolicy;
import dev.idempotent.stream.RedisStreamListenerContainer;
import dev.idempotent.stream.StreamInspector;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration for operating stream listeners: actuator endpoint, metrics and
 * tracing.
 */
@AutoConfiguration(afterName = { "dev.idempotent.autoconfigure.stream.RedisStreamAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBean(RedisStreamListenerContainer.class)
final class StreamOperationsAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ConditionalOnAvailableEndpoint.class, Endpoint.class })
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		StreamEndpoint streamEndpoint(RedisStreamListenerContainer container, ListableBeanFactory beans) {
			return new StreamEndpoint(container, List.of(beans.getBeanNamesForType(RedeliveryPolicy.class)));
		}

	}

	/**
	 * The beans are created with the first listener.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnSingleCandidate(MeterRegistry.class)
	static class MetricsConfiguration {

		/**
		 * Records {@code stream.process} unless the observation of that name does.
		 */
		@Bean
		@Lazy
		StreamMetrics streamMetrics(MeterRegistry registry, RedisStreamListenerContainer container,
				ObjectProvider<ObservationRegistry> observations, ObjectProvider<MeterObservationHandler<?>> handlers) {
			boolean observed = observations.getIfUnique() != null && handlers.stream().findAny().isPresent();
			return new StreamMetrics(registry, () -> {
				StreamInspector inspector = container.inspector();
				return (inspector != null) ? inspector.backlogs() : Map.of();
			}, !observed);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	static class ObservationConfiguration {

		@Bean
		@Lazy
		@ConditionalOnSingleCandidate(ObservationRegistry.class)
		ReceiverObservation streamObservation(ObservationRegistry registry) {
			return new ReceiverObservation(registry);
		}

	}

}
