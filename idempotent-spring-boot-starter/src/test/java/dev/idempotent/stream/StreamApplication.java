package dev.idempotent.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.autoconfigure.stream.ImportStreams;
import dev.idempotent.testing.RedisTopology;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * An application without a web server that listens to streams.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
		JacksonAutoConfiguration.class })
@ImportStreams
class StreamApplication {

	/**
	 * Starts an instance.
	 * @param listeners its bean with listeners
	 * @param script what they do
	 * @param properties as {@code name=value}
	 */
	static ConfigurableApplicationContext start(Class<?> listeners, RedisTopology redis, Script script,
			String... properties) {
		SpringApplication application = new SpringApplication(StreamApplication.class, listeners);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.addInitializers((context) -> context.getBeanFactory().registerSingleton("script", script));
		application.setDefaultProperties(
				Map.of("idempotent.stream.min-idle-time", "500ms", "idempotent.redis.timeout", "10s"));
		List<String> arguments = new ArrayList<>(List.of("--spring.main.banner-mode=off"));
		redis.properties().forEach((property) -> arguments.add("--" + property));
		List.of(properties).forEach((property) -> arguments.add("--" + property));
		return application.run(arguments.toArray(String[]::new));
	}

	/**
	 * The behaviour of a test's listeners.
	 */
	interface Script {

		void on(Order order, Map<String, String> headers) throws Exception;

	}

	/**
	 * A payload.
	 */
	record Order(String id, int amount) {
	}

}
