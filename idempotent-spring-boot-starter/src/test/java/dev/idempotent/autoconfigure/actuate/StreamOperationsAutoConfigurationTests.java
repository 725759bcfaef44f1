package dev.idempotent.autoconfigure.actuate;

import dev.idempotent.autoconfigure.stream.ImportStreams;
import dev.idempotent.stream.RedisStreamListener;
import dev.idempotent.stream.RedisStreamListenerContainer;
import dev.idempotent.testing.ClassPathWithout;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StreamOperationsAutoConfiguration}: what observes stream listeners,
 * and that they listen without it.
 */
class StreamOperationsAutoConfigurationTests {

	private static final String REDIS_IS_AWAY = "spring.data.redis.port=1";

	@ParameterizedTest
	@CsvSource({ "org.springframework.boot.actuate, streamEndpoint", "io.micrometer.core, streamMetrics",
			"io.micrometer, streamObservation" })
	void listensWithoutWhatWouldObserveIt(String missing, String bean) throws ClassNotFoundException {
		ClassPathWithout classPath = new ClassPathWithout(missing);
		new ApplicationContextRunner().withClassLoader(classPath)
			.withPropertyValues("management.endpoints.web.exposure.include=stream", REDIS_IS_AWAY)
			.withUserConfiguration(classPath.loadClass(Application.class.getName()))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasBean("redisStreamListenerContainer")
				.doesNotHaveBean(bean));
	}

	@Test
	void observesNothingWithoutListeners() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, ImportStreams.CLASS,
					StreamOperationsAutoConfiguration.class, ObservationAutoConfiguration.class))
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("management.endpoints.web.exposure.include=stream", REDIS_IS_AWAY)
			.run((context) -> {
				assertThat(context).hasBean("streamEndpoint");
				assertThat(context.getBean(MeterRegistry.class).getMeters()).isEmpty();
				assertThat(context.getBeanFactory().containsSingleton("streamMetrics")).isFalse();
				assertThat(context.getBeanFactory().containsSingleton("streamObservation")).isFalse();
			});
	}

	@Test
	void startsWhileRedisIsAwayAndHasNoValuesThen() {
		new ApplicationContextRunner().withUserConfiguration(Application.class)
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("management.endpoints.web.exposure.include=stream", REDIS_IS_AWAY)
			.run((context) -> {
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				assertThat(registry.get("stream.lag").gauge().value()).isNaN();
				assertThat(registry.get("stream.pending").gauge().value()).isNaN();
				assertThat(registry.get("stream.dead").counter().count()).isZero();
				context.getBean(RedisStreamListenerContainer.class).start();
				await().until(() -> context.getBean(StreamEndpoint.class).overview().unreachableFor() != null);
				assertThat(context.getBean(StreamEndpoint.class).overview().groups()).singleElement()
					.satisfies((group) -> assertThat(group.problem()).isEqualTo("Redis did not respond"));
			});
	}

	@Test
	void isAbsentIfListenersAreDisabledOrTheEndpointIsNotExposed() {
		ApplicationContextRunner application = new ApplicationContextRunner().withPropertyValues(REDIS_IS_AWAY)
			.withUserConfiguration(Application.class);
		application.run((context) -> assertThat(context).doesNotHaveBean("streamEndpoint"));
		application
			.withPropertyValues("management.endpoints.web.exposure.include=stream", "idempotent.stream.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(RedisStreamListenerContainer.class)
				.doesNotHaveBean("streamEndpoint"));
		application.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce"))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("streamMetrics"));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataRedisAutoConfiguration.class, StreamOperationsAutoConfiguration.class })
	@ImportStreams
	static class Application {

		@RedisStreamListener(stream = "orders", group = "billing")
		void bill(String order) {
		}

	}

}
