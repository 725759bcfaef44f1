package dev.idempotent.autoconfigure.stream;

import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.outbox.redis.RedisStreamPublisher;
import dev.idempotent.stream.RedisStreamListener;
import dev.idempotent.stream.RedisStreamListenerContainer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for the publisher to Redis Streams and {@link RedisStreamAutoConfiguration}.
 * There is no Redis: nothing connects before there is something to send or to read.
 */
class RedisStreamAutoConfigurationTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
				JacksonAutoConfiguration.class, ImportOutbox.CLASS, RedisStreamAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.port=1", "spring.datasource.generate-unique-name=true");

	@Test
	void createAPublisherAndAListenerContainer() {
		this.application.run((context) -> assertThat(context).hasSingleBean(RedisStreamPublisher.class)
			.hasSingleBean(RedisStreamListenerContainer.class)
			.getBean(RedisStreamListenerContainer.class)
			.matches((container) -> !container.isRunning()));
	}

	@Test
	void areAbsentWithoutRedis() {
		this.application.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce"))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(RedisStreamPublisher.class)
				.doesNotHaveBean(RedisStreamListenerContainer.class));
	}

	@Test
	void canBeSwitchedOff() {
		this.application.withPropertyValues("idempotent.outbox.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(RedisStreamPublisher.class)
				.hasSingleBean(RedisStreamListenerContainer.class));
		this.application.withPropertyValues("idempotent.stream.enabled=false")
			.run((context) -> assertThat(context).hasSingleBean(RedisStreamPublisher.class)
				.doesNotHaveBean(RedisStreamListenerContainer.class));
	}

	@Test
	void stopTheStreamBeforeTheConnectionFactory() {
		this.application.run((context) -> assertThat(context.getBean(RedisStreamListenerContainer.class).getPhase())
			.isGreaterThan(context.getBean(LettuceConnectionFactory.class).getPhase()));
	}

	@Test
	void acceptAnyClientForThePublisherAndOnlyLettuceForTheListener() {
		ApplicationContextRunner jedis = this.application.withBean(RedisConnectionFactory.class,
				JedisConnectionFactory::new);
		jedis.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(RedisStreamPublisher.class));
		jedis.withBean(Listener.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("needs Lettuce"));
		jedis.withPropertyValues("idempotent.outbox.redis.wait-replicas=1")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("idempotent.outbox.redis.wait-replicas needs Lettuce"));
	}

	@Test
	void refuseToWaitForReplicasInACluster() {
		this.application
			.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:1",
					"idempotent.outbox.redis.wait-replicas=1")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("a cluster"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotent.outbox.redis.timeout       | 0s   | at least 1 ms     | at least 1 ms
			idempotent.outbox.redis.timeout       | 25h  | at most 24h       | at most 24h
			idempotent.outbox.redis.wait-timeout  | -1s  | at least 1 ms     | at least 1 ms
			idempotent.outbox.redis.max-length    | 0    | is 0              | omit it to keep all
			idempotent.outbox.redis.wait-replicas | -1   | is -1             | or to 0
			idempotent.stream.min-idle-time           | 0s   | at least 1 ms     | at least 1 ms
			idempotent.stream.max-deliveries       | 0    | is 0              | at least 1
			""")
	void stopTheApplicationWithTheNameOfAnInvalidPropertyAndWhatToDo(String property, String value, String mistake,
			String action) {
		this.application.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessageContainingAll(property, mistake)
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.contains(action));
	}

	@Test
	void stopTheApplicationIfReplicasMayTakeLongerThanTheBatch() {
		this.application
			.withPropertyValues("idempotent.outbox.redis.wait-replicas=1", "idempotent.outbox.redis.wait-timeout=5s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("idempotent.outbox.redis.wait-timeout (PT5S) is not shorter"));
	}

	static class Listener {

		@RedisStreamListener(stream = "orders", group = "billing")
		void on() {
		}

	}

}
