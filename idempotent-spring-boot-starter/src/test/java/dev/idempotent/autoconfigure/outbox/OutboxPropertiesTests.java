package dev.idempotent.autoconfigure.outbox;

import java.util.Map;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Limits of the properties of the outbox.
 */
class OutboxPropertiesTests {

	@ParameterizedTest
	@ValueSource(strings = { "/shop", "shop", "https://shop.example/orders", "urn:shop" })
	void acceptsAUriReferenceAsSource(String source) {
		assertThat(withSource(source).source()).isEqualTo(source);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "%%", "a shop" })
	void refusesAnyOtherSource(String source) {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> withSource(source))
			.withMessage("idempotent.outbox.source is not a URI reference.");
	}

	@Test
	void readsWhatHappensToTheKeysOfATopic() {
		OutboxProperties properties = withTopics(Map.of("kafka:a", Map.of("on-dead", "block")));
		assertThat(properties.blocksOnDead("kafka:a")).isTrue();
		assertThat(properties.blocksOnDead("kafka:b")).isFalse();
		assertThat(withTopics(Map.of("kafka:a", Map.of("onDead", "SKIP"))).blocksOnDead("kafka:a")).isFalse();
	}

	@Test
	void rejectsUnknownPropertiesAndValuesOfATopic() {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> withTopics(Map.of("kafka:a", Map.of("on-deaf", "block"))))
			.withMessage("idempotent.outbox.topics.[kafka:a] has unknown properties.");
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> withTopics(Map.of("kafka:a", Map.of("on-dead", "stop"))))
			.withMessage("idempotent.outbox.topics.[kafka:a].on-dead is neither skip nor block.");
	}

	@Test
	void rejectsATopicWithoutAPublisher() {
		withProperty("idempotent.outbox.topics.test:orders.on-dead", "block")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("idempotent.outbox.topics.[testorders]: No publisher serves the topic"));
		withProperty("idempotent.outbox.topics.[test:${shop.topic}].on-dead", "block")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("idempotent.outbox.topics.[test:${shop.topic}] has a placeholder"));
		withProperty("idempotent.outbox.topics.[test:orders].on-dead", "block")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * Without the runner's own parsing, which ends a name at a colon.
	 */
	private static ApplicationContextRunner withProperty(String name, String value) {
		return OutboxApplication.with()
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("test", Map.of(name, value))));
	}

	private static OutboxProperties withTopics(Map<String, Map<String, String>> topics) {
		return new OutboxProperties(true, null, OutboxProperties.Order.KEY, null, DatabaseInitializationMode.EMBEDDED,
				OutboxProperties.DEFAULT_TABLE_PREFIX, null, OutboxProperties.OnDead.SKIP, topics);
	}

	private static OutboxProperties withSource(String source) {
		return new OutboxProperties(true, null, OutboxProperties.Order.KEY, source, DatabaseInitializationMode.EMBEDDED,
				OutboxProperties.DEFAULT_TABLE_PREFIX, null, OutboxProperties.OnDead.SKIP, Map.of());
	}

}
