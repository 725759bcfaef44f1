package dev.idempotent.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.autoconfigure.stream.ImportStreams;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.Script;
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

	/**
	 * The listener of most tests.
	 */
	static class OrderListener {

		private final Script script;

		OrderListener(Script script) {
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.stream}", group = "${test.group:notifications}")
		void on(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

	}

	/**
	 * Records the calls of listeners and runs the script of the test.
	 */
	static class Calls implements Script {

		private final List<String> ids = new CopyOnWriteArrayList<>();

		private final Script next;

		Calls() {
			this((order, headers) -> {
			});
		}

		Calls(Script next) {
			this.next = next;
		}

		@Override
		public void on(Order order, Map<String, String> headers) throws Exception {
			this.ids.add(order.id());
			this.next.on(order, headers);
		}

		List<String> ids() {
			return this.ids;
		}

		int count(String id) {
			return (int) this.ids.stream().filter(id::equals).count();
		}

	}

}
