package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for mistakes in properties, each of which stops the application.
 */
class ConfigurationMistakesTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DataRedisAutoConfiguration.class,
				DataSourceAutoConfiguration.class, IdempotencyAutoConfiguration.class,
				IdempotencyWebAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					idempotent.lease                 | 0s          | at least 1 ms                 | at least 1 ms
					idempotent.lease                 | -30s        | at least 1 ms                 | at least 1 ms
					idempotent.lease                 | 999us       | at least 1 ms                 | at least 1 ms
					idempotent.retention             | 29s         | shorter than idempotent.lease | to at least idempotent.lease
					idempotent.retention             | -1s         | shorter than idempotent.lease | to at least idempotent.lease
					idempotent.retention             | 4000d       | at most 3650d                 | 3650d
					idempotent.retention             | 106751991167300d | at most 3650d            | 3650d
					idempotent.max-run               | 0s          | at least 1 ms                 | at least 1 ms
					idempotent.jdbc.max-waiters      | 0           | is 0                          | at least 1
					idempotent.jdbc.table            | a; drop b   | not a valid table name        | letters, digits
					idempotent.jdbc.lock-timeout     | 0s          | at least 1 ms                 | 30s
					idempotent.redis.timeout         | 0ms         | at least 1 ms                 | at least 1 ms
					idempotent.redis.timeout         | -500ms      | at least 1 ms                 | at least 1 ms
					idempotent.token.validity        | 999ms       | between 1 s and 365 days      | such as 2h
					idempotent.token.validity        | 366d        | between 1 s and 365 days      | such as 2h
					idempotent.token.secrets         | AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=          | [0] does not begin with an id | openssl rand -base64 32
					idempotent.token.secrets         | K1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=       | [0] does not begin with an id | as id:base64
					idempotent.token.secrets         | k1:%%       | [0] is not valid Base64       | as id:base64
					idempotent.token.secrets         | k1:         | [0] has 0 bytes               | as id:base64
					idempotent.token.secrets         | k1:AAAA     | [0] has 3 bytes, but must have at least 32 | openssl
					idempotent.token.secrets         | k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,k1:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB= | [1] has the same id or the same secret as 'k1' | as id:base64
					idempotent.token.secrets         | k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,k2:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= | [1] has the same id or the same secret as 'k1' | as id:base64
					idempotent.web.header            | ' '         | not a valid header name       | name of the header
					idempotent.web.header            | My Key      | not a valid header name       | name of the header
					idempotent.web.max-request-body  | -1B         | buffered in memory            | between 0 and 512MB
					idempotent.web.max-request-body  | 513MB       | buffered in memory            | between 0 and 512MB
					idempotent.web.max-response-body | -1B         | buffered in memory            | between 0 and 512MB
					idempotent.web.max-response-body | 513MB       | buffered in memory            | between 0 and 512MB
					idempotent.web.problem-base-uri  | ''          | not an absolute URI           | https://docs.example.com/problems/
					idempotent.web.problem-base-uri  | /problems/  | not an absolute URI           | or omit it
					idempotent.web.problem-base-uri  | https:/p/   | not an absolute URI           | or omit it
					idempotent.web.problem-base-uri  | urn:a b:    | not an absolute URI           | or omit it
					idempotent.web.problem-base-uri  | urn:ä:      | not an absolute URI           | or omit it
					idempotent.web.problem-base-uri  | https://docs.example.com/problems | does not end with one of /#:= | or omit it
					idempotent.web.problem-base-uri  | https://me:secret@docs.example.com/ | user information | or omit it
					""")
	void stopTheApplicationWithTheNameOfThePropertyAndWhatToDo(String property, String value, String mistake,
			String action) {
		this.application.withPropertyValues("idempotent.namespace=shop", property + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessageContainingAll(property, mistake)
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.contains(action));
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotent.lease", "idempotent.retention", "idempotent.max-run", "idempotent.guarantee",
			"idempotent.on-store-failure", "idempotent.redis.timeout", "idempotent.web.max-request-body",
			"idempotent.web.max-response-body", "idempotent.store", "idempotent.jdbc.initialize-schema" })
	void stopTheApplicationWithTheNameOfAMalformedProperty(String property) {
		this.application.withPropertyValues("idempotent.namespace=shop", property + "=abc")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("Failed to bind properties under '" + property + "'"));
	}

	@Test
	void doNotShowAPassword() {
		this.application
			.withPropertyValues("idempotent.namespace=shop",
					"idempotent.web.problem-base-uri=https://me:secret@docs.example.com/")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageNotContainingAny("me", "secret"));
	}

	@Test
	void includeADefaultGuaranteeThatNamesItself() {
		this.application.withPropertyValues("idempotent.namespace=shop", "idempotent.guarantee=default")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("Failed to bind properties under 'idempotent.guarantee'"));
	}

	@ParameterizedTest
	@CsvSource({ "idempotent.lease, 24h", "idempotent.lease, 1ms", "idempotent.retention, 30s",
			"idempotent.max-run, 1ms", "idempotent.redis.timeout, 1ms", "idempotent.guarantee, LEASE",
			"idempotent.web.problem-base-uri, tag:example.com:", "idempotent.web.max-request-body, 512MB",
			"idempotent.web.max-response-body, 0B", "idempotent.namespace, shop" })
	void areNotTheUtmostThatIsSensible(String property, String value) {
		this.application.withPropertyValues("idempotent.namespace=shop", property + "=" + value)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "idempotent.namespace=, <name>", "idempotent.namespace=   , <name>",
			"spring.application.name=shop, shop" })
	void includeAnApplicationWithoutANamespace(String property, String proposal) {
		this.application.withPropertyValues(property)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessageStartingWith("idempotent.namespace is not set")
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.startsWith("Set idempotent.namespace=" + proposal + ". It must never change"));
	}

}
