package dev.idempotent.autoconfigure.outbox;

import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.inbox.InboxConfigurationException;
import dev.idempotent.inbox.RedisStreamInbox;
import dev.idempotent.inbox.RedisStreamListener;
import dev.idempotent.outbox.redis.RedisStreamPublisher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for {@link OutboxRedisAutoConfiguration} and {@link InboxRedisAutoConfiguration}.
 * There is no Redis: nothing connects before there is something to send or to read.
 */
class RedisStreamsAutoConfigurationTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class,
				OutboxRedisAutoConfiguration.class, InboxRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.port=1");

	@Test
	void bringAPublisherAndAnInboxWithRedis() {
		this.application.run((context) -> assertThat(context).hasSingleBean(RedisStreamPublisher.class)
			.hasSingleBean(RedisStreamInbox.class)
			.getBean(RedisStreamInbox.class)
			.matches((inbox) -> !inbox.isRunning()));
	}

	@Test
	void stayAwayWithoutRedis() {
		this.application.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce"))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(RedisStreamPublisher.class)
				.doesNotHaveBean(RedisStreamInbox.class));
	}

	@Test
	void canBeSwitchedOff() {
		this.application.withPropertyValues("idempotent.outbox.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(RedisStreamPublisher.class)
				.hasSingleBean(RedisStreamInbox.class));
		this.application.withPropertyValues("idempotent.inbox.enabled=false")
			.run((context) -> assertThat(context).hasSingleBean(RedisStreamPublisher.class)
				.doesNotHaveBean(RedisStreamInbox.class));
	}

	@Test
	void stopTheInboxBeforeTheConnectionFactory() {
		this.application.run((context) -> assertThat(context.getBean(RedisStreamInbox.class).getPhase())
			.isGreaterThan(context.getBean(LettuceConnectionFactory.class).getPhase()));
	}

	@Test
	void takeAnyClientForThePublisherAndLettuceAloneForTheInbox() {
		ApplicationContextRunner jedis = this.application.withBean(RedisConnectionFactory.class,
				JedisConnectionFactory::new);
		jedis.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(RedisStreamPublisher.class));
		jedis.withBean(Listener.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InboxConfigurationException.class)
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
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("a Cluster"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			idempotent.outbox.redis.timeout       | 0s   | no time at all    | to a millisecond or more
			idempotent.outbox.redis.timeout       | 25h  | longer than a day | to a day
			idempotent.outbox.redis.wait-timeout  | -1s  | no time at all    | to a millisecond or more
			idempotent.outbox.redis.max-length    | 0    | is 0              | leave it out to keep all
			idempotent.outbox.redis.wait-replicas | -1   | is -1             | or to 0
			idempotent.inbox.claim-idle           | 0s   | no time at all    | to a millisecond or more
			idempotent.inbox.max-deliveries       | 0    | is 0              | at least 1
			""")
	void stopTheApplicationWithTheNameOfAMistakenPropertyAndWhatToDo(String property, String value, String mistake,
			String action) {
		this.application.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.asInstanceOf(throwable(IdempotencyConfigurationException.class))
				.hasMessageContainingAll(property, mistake)
				.extracting(IdempotencyConfigurationException::getAction)
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

	@Test
	void tellWhatIsWrongWithAListenerAndWhatToDo() {
		InboxConfigurationException mistake = new InboxConfigurationException("It is wrong.", "Mend it.", null);
		FailureAnalysis analysis = Objects
			.requireNonNull(new InboxConfigurationFailureAnalyzer().analyze(new IllegalStateException(mistake)));
		assertThat(analysis.getDescription()).isEqualTo("It is wrong.");
		assertThat(analysis.getAction()).isEqualTo("Mend it.");
	}

	static class Listener {

		@RedisStreamListener(stream = "orders", group = "billing")
		void on() {
		}

	}

}
