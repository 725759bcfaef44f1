package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.concurrent.Backoff;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
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
		assertThat(bind("idempotent.outbox.source", source).source()).isEqualTo(source);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "%%", "a shop" })
	void refusesAnyOtherSource(String source) {
		refuses("idempotent.outbox.source", source, "idempotent.outbox.source is not a URI reference.");
	}

	@Test
	void readsWhatHappensToTheKeysOfATopic() {
		OutboxProperties properties = withTopic("on-dead", "block");
		assertThat(properties.blocksOnDead("kafka:a")).isTrue();
		assertThat(properties.blocksOnDead("kafka:b")).isFalse();
		assertThat(withTopic("onDead", "SKIP").blocksOnDead("kafka:a")).isFalse();
	}

	@Test
	void rejectsUnknownPropertiesAndValuesOfATopic() {
		refuses("idempotent.outbox.topics.[kafka:a].on-deaf", "block",
				"idempotent.outbox.topics.[kafka:a] has unknown properties.");
		refuses("idempotent.outbox.topics.[kafka:a].on-dead", "stop",
				"idempotent.outbox.topics.[kafka:a].on-dead is neither skip nor block.");
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
				.addFirst(new MapPropertySource("topics", Map.of(name, value))));
	}

	/**
	 * A provider that is away from an evening to the next morning.
	 */
	@Test
	void letsAnEventOfAHandlerOutlastANight() {
		OutboxProperties properties = bind("idempotent.outbox.enabled", "true");
		Backoff backoff = new Backoff(properties.relay().backoff(), properties.handlers().maxBackoff());
		Duration all = IntStream.range(1, properties.handlers().attempts())
			.mapToObj(backoff::after)
			.reduce(Duration.ZERO, Duration::plus);
		assertThat(all).isBetween(Duration.ofHours(14), Duration.ofHours(23));
	}

	@ParameterizedTest
	@CsvSource({ "attempts, 0, is 0.", "max-backoff, 0s, 'is PT0S, but must be at least 1 ms.'" })
	void refusesLimitsOfHandlersThatAreNotPositive(String name, String value, String message) {
		refuses("idempotent.outbox.handlers." + name, value, "idempotent.outbox.handlers." + name + " " + message);
	}

	private static OutboxProperties withTopic(String property, String value) {
		return bind("idempotent.outbox.topics.[kafka:a]." + property, value);
	}

	private static OutboxProperties bind(String name, String value) {
		return new Binder(new MapConfigurationPropertySource(Map.of(name, value))).bindOrCreate("idempotent.outbox",
				OutboxProperties.class);
	}

	private static void refuses(String name, String value, String message) {
		assertThatExceptionOfType(BindException.class).isThrownBy(() -> bind(name, value))
			.havingRootCause()
			.isInstanceOf(IdempotentConfigurationException.class)
			.withMessage(message);
	}

}
