package dev.idempotent.stream;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.stream.ImportStreams;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.Async;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for mistakes in listeners, each of which stops the application.
 */
class RedisStreamListenerMistakesTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class,
				DataRedisAutoConfiguration.class, ImportStreams.CLASS));

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			BlankStream        | has a blank stream                | Set it to the key
			BlankGroup         | has a blank group                 | Set it to the consumer group
			UnknownPlaceholder | has the stream '${unknown}'       | Set the property
			NoThreads          | has a concurrency of 0            | Set concurrency to 1
			TwoPayloads        | 1 parameters for headers and 2    | at most one
			TwoHeaders         | 2 parameters for headers and 0    | at most one
			Hidden             | is private or static              | an instance method
			Future             | before its work is done           | set concurrency
			Elsewhere          | before its work is done           | set concurrency
			Rivals             | the second one for group billing  | a separate group
			""")
	void stopTheApplicationWithTheMethodAndAnAction(String listener, String mistake, String action)
			throws ClassNotFoundException {
		assertMistake(Class.forName(InvalidListeners.class.getName() + "$" + listener), mistake, action);
	}

	@Test
	void includeAMethodThatTheProxyDoesNotDeclare() {
		this.application.withBean("listener", Behind.class)
			.withBean(BeanNameAutoProxyCreator.class, RedisStreamListenerMistakesTests::proxies)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("is not declared by an interface of the bean's proxy"));
	}

	@Test
	void includeAListenerThatTheStartCannotFind() {
		this.application.withBean("late", Runnable.class, Behind::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean("late"))
					.havingRootCause()
					.isInstanceOf(IdempotentConfigurationException.class)
					.withMessageContainingAll("@RedisStreamListener", "Behind.on", "'late'", "would receive nothing");
			});
	}

	@Test
	void includeJsonWithoutJackson() {
		this.application.withClassLoader(new FilteredClassLoader(JsonMapper.class))
			.withBean(Json.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("Jackson is not available to read JSON"));
	}

	/**
	 * With the interfaces of the bean.
	 */
	private static BeanNameAutoProxyCreator proxies() {
		BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
		creator.setBeanNames("listener");
		return creator;
	}

	private void assertMistake(Class<?> listener, String mistake, String action) {
		this.application.withBean(listener)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(IdempotentConfigurationException.class,
						(failure) -> assertThat(failure.getAction()).contains(action))
				.hasMessageContainingAll(listener.getName() + ".on", mistake));
	}

	static class Json {

		@RedisStreamListener(stream = "orders", group = "billing")
		void on(StreamApplication.Order order) {
		}

	}

	static class Behind implements Runnable {

		@RedisStreamListener(stream = "orders", group = "billing")
		public void on(String payload) {
		}

		@Override
		public void run() {
		}

	}

	/**
	 * Listeners that stop the application.
	 */
	@SuppressWarnings({ "UnusedMethod", "UnusedVariable" })
	static final class InvalidListeners {

		private InvalidListeners() {
		}

		static class BlankStream {

			@RedisStreamListener(stream = " ", group = "billing")
			void on(String payload) {
			}

		}

		static class BlankGroup {

			@RedisStreamListener(stream = "orders", group = "${empty:}")
			void on(String payload) {
			}

		}

		static class UnknownPlaceholder {

			@RedisStreamListener(stream = "${unknown}", group = "billing")
			void on(String payload) {
			}

		}

		static class NoThreads {

			@RedisStreamListener(stream = "orders", group = "billing", concurrency = 0)
			void on(String payload) {
			}

		}

		static class TwoPayloads {

			@RedisStreamListener(stream = "orders", group = "billing")
			void on(String payload, List<String> another, Map<String, String> headers) {
			}

		}

		static class TwoHeaders {

			@RedisStreamListener(stream = "orders", group = "billing")
			void on(Map<String, String> headers, Map<String, String> others) {
			}

		}

		static class Hidden {

			@RedisStreamListener(stream = "orders", group = "billing")
			private void on(String payload) {
			}

		}

		static class Future {

			@RedisStreamListener(stream = "orders", group = "billing")
			CompletableFuture<Void> on(String payload) {
				return CompletableFuture.completedFuture(null);
			}

		}

		static class Elsewhere {

			@Async
			@RedisStreamListener(stream = "orders", group = "billing")
			void on(String payload) {
			}

		}

		static class Rivals {

			@RedisStreamListener(stream = "orders", group = "billing")
			void on(String payload) {
			}

			@RedisStreamListener(stream = "${stream:orders}", group = "billing")
			void onToo(String payload) {
			}

		}

	}

}
