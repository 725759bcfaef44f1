package dev.idempotent.autoconfigure;

import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import dev.idempotent.token.OneTimeTokens;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for the failure report of an application with a configuration mistake.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartFailureReportTests {

	@Test
	void reportsAnInvalidProperty(CapturedOutput output) {
		fail(Application.class, "idempotent.namespace=shop", "idempotent.lease=0s");
		assertThat(report(output)).containsExactly("Description:",
				"idempotent.lease is PT0S, but must be at least 1 ms.", "Action:",
				"Set idempotent.lease to a duration of at least 1 ms, such as 30s.");
	}

	@Test
	void reportsAnInvalidAnnotation(CapturedOutput output) {
		fail(Orders.class, "idempotent.namespace=shop");
		assertThat(report(output)).containsExactly("Description:",
				"The @Idempotent method " + Orders.class.getName()
						+ ".place() has the lease 'abc', which is not a duration between 1 ms and 10 years.",
				"Action:", "Use a format such as 30s, 24h or PT30S.");
	}

	@Test
	void reportsWhichStoreToAdd(CapturedOutput output) {
		fail(Application.class, "idempotent.namespace=shop", "spring.autoconfigure.exclude="
				+ DataRedisAutoConfiguration.class.getName() + "," + DataSourceAutoConfiguration.class.getName());
		assertThat(report(output)).containsExactly("Description:", "There is no store for idempotency keys.", "Action:",
				"Add spring-boot-starter-data-redis to the application and point spring.data.redis.* at a server, "
						+ "or add spring-boot-starter-jdbc and point spring.datasource.* at a database; "
						+ "mark one of several RedisConnectionFactory or DataSource beans as @Primary; "
						+ "declare a bean of type IdempotencyStore; or set idempotent.enabled=false.");
	}

	@Test
	void reportsHowToAddTheConfiguredDatabase(CapturedOutput output) {
		fail(Application.class, "idempotent.namespace=shop", "idempotent.store=jdbc",
				"spring.autoconfigure.exclude=" + DataSourceAutoConfiguration.class.getName());
		assertThat(report(output)).containsExactly("Description:",
				"idempotent.store is jdbc, which this application does not have.", "Action:",
				"Add spring-boot-starter-jdbc and set spring.datasource.*, or set idempotent.store=redis; "
						+ "mark one of several DataSource beans as @Primary.");
	}

	@Test
	void reportsWhichNamespaceToSet(CapturedOutput output) {
		fail(Application.class, "spring.application.name=shop");
		assertThat(report(output)).containsExactly("Description:",
				"idempotent.namespace is not set. It is part of all keys and of the source of events, so that they "
						+ "differ from those of other applications, and is not taken from spring.application.name, which "
						+ "may change.",
				"Action:",
				"Set idempotent.namespace=shop. It must never change: keys of another namespace are unknown, "
						+ "so completed calls would run again.");
	}

	@Test
	void reportsThatTokensNeedASecret(CapturedOutput output) {
		fail(Forms.class, "idempotent.namespace=shop");
		assertThat(report(output)).element(1)
			.asString()
			.startsWith("OneTimeTokens is injected, and there is no such bean: idempotent.token.secrets is empty");
	}

	@Test
	void reportsThatTheListOfSecretsIsEmpty(CapturedOutput output) {
		fail(Forms.class, "idempotent.namespace=shop", "idempotent.token.secrets=");
		assertThat(report(output)).element(1)
			.asString()
			.startsWith("OneTimeTokens is injected, and there is no such bean: idempotent.token.secrets is empty");
	}

	@Test
	void reportsAGapInTheListOfSecretsWithoutThem(CapturedOutput output) {
		fail(Forms.class, "idempotent.namespace=shop", "idempotent.token.secrets[1]=k1:c2VjcmV0");
		assertThat(report(output)).contains("idempotent.token.secrets is not a list without gaps from [0].");
		assertThat(output).doesNotContain("c2VjcmV0");
	}

	@Test
	void leavesAMalformedPropertyToBoot(CapturedOutput output) {
		fail(Application.class, "idempotent.namespace=shop", "idempotent.lease=abc");
		assertThat(report(output)).contains("Property: idempotent.lease", "Value: \"abc\"");
	}

	@Test
	void isOrderedBeforeBootsAnalyzersInAnyOrderOfTheClassPath() {
		FailureAnalyzer unordered = (failure) -> null;
		FailureAnalyzer ours = new IdempotentConfigurationFailureAnalyzer();
		assertThat(AnnotationAwareOrderComparator.INSTANCE.compare(ours, unordered)).isNegative();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			jetty  | idempotent.lease=0s                      | idempotent.lease is PT0S
			jetty  | idempotent.lease=abc                     | Failed to bind properties under 'idempotent.lease'
			jetty  | idempotent.retentoin=1h                  | There is no property idempotent.retentoin (
			jetty  | idempotent.web.required-for=orders       | idempotent.web.required-for
			jetty  | idempotent.web.stored-statuses=abc       | idempotent.web.stored-statuses
			jetty  | idempotent.outbox.relay.batch-size=0   | idempotent.outbox.relay.batch-size is 0
			tomcat | idempotent.client.targets.pay=https://a:b:c | idempotent.client.targets: pay[0]
			""")
	void comesBeforeAnyServerStarts(String container, String property, String mistake, CapturedOutput output) {
		fail(Application.class, "idempotent.namespace=shop", "test.container=" + container, property);
		assertThat(output)
			.doesNotContain("\tat ", "Stack trace of thread", "Error starting Tomcat", "initialized with port")
			.contains(mistake);
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void comesWithoutAnyStackTraceIfAHandlerIsWrong(String container, CapturedOutput output) {
		fail(Orders.class, "idempotent.namespace=shop", "test.container=" + container, WebApplication.WITH_JPA,
				WebApplication.WITH_SECURITY, "spring.datasource.generate-unique-name=true");
		assertThat(report(output)).contains("Use a format such as 30s, 24h or PT30S.");
	}

	private static void fail(Class<?> application, String... properties) {
		SpringApplication spring = new SpringApplication(application);
		String[] arguments = Stream
			.concat(Stream.of("server.port=0", "spring.main.banner-mode=off"), Stream.of(properties))
			.map("--"::concat)
			.toArray(String[]::new);
		assertThatException().isThrownBy(() -> spring.run(arguments).close());
	}

	private static List<String> report(CapturedOutput output) {
		assertThat(output).doesNotContain("\tat ", "Stack trace of thread", "Error starting Tomcat")
			.containsOnlyOnce("APPLICATION FAILED TO START");
		return output.getAll()
			.substring(output.getAll().indexOf("Description:"))
			.lines()
			.map(String::strip)
			.filter((line) -> !line.isEmpty())
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@RestController
	@EnableAutoConfiguration
	static class Forms {

		Forms(OneTimeTokens tokens) {
		}

	}

	@RestController
	@EnableAutoConfiguration
	static class Orders {

		@Idempotent(lease = "abc")
		@PostMapping("/orders")
		void place() {
		}

	}

}
