package dev.idempotent.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.ToolRefusal.Reason;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.ClassPathWithout;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Tests for the auto-configuration where a library is not on the class path.
 */
@ExtendWith(OutputCaptureExtension.class)
class OptionalLibrariesTests {

	private static final String[] REDIS = { "org.springframework.boot.data.redis", "org.springframework.data.redis",
			"io.lettuce" };

	private static final String JDBC = "org.springframework.jdbc";

	/**
	 * Each loads this library again.
	 */
	private static final Map<Set<String>, ClassPathWithout> CLASS_PATHS = new ConcurrentHashMap<>();

	@AfterAll
	static void forgetClasses() {
		CLASS_PATHS.clear();
	}

	@Test
	void worksWithoutSpringSecurityAndWarnsOnce(CapturedOutput output) {
		start("org.springframework.security").run((context) -> {
			assertThat(context).hasBean("idempotencyFilter");
			assertThat(output).containsOnlyOnce("Without Spring Security, callers without a principal share one set");
		});
	}

	@Test
	void refusesKeysFromFingerprintsIfCallersCannotBeDistinguished() {
		start(Forms.class, "org.springframework.security").run((context) -> assertThat(context).getFailure()
			.hasMessageContaining("Forms.give() takes its key from the fingerprint")
			.hasMessageContaining("callers cannot be distinguished"));
	}

	@Test
	void takesKeysFromFingerprintsWithAScopeResolverOfTheApplication(CapturedOutput output) {
		start(ScopedForms.class, "org.springframework.security").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Idempotency: 1 handler under LEASE").doesNotContain("Without Spring Security");
		});
	}

	@Test
	void doesNotWarnWithSpringSecurity(CapturedOutput output) {
		start("unknown").withPropertyValues(WebApplication.WITH_SECURITY).run((context) -> {
			assertThat(context).hasBean("idempotencyFilter");
			assertThat(output).contains("Idempotency: no annotated handlers").doesNotContain("Without Spring Security");
		});
	}

	@Tag("long")
	@Test
	void worksWithoutOAuth() {
		start("org.springframework.security.oauth2").withPropertyValues(WebApplication.WITH_SECURITY)
			.run((context) -> assertThat(context).hasBean("idempotencyFilter"));
	}

	@Test
	void keepsKeysInTheApplicationsStoreWithoutRedis(CapturedOutput output) {
		start(OwnStore.class, REDIS).withPropertyValues(WebApplication.WITH_OPERATIONS).run((context) -> {
			assertThat(context).doesNotHaveBean("redisIdempotencyStore").hasBean("idempotencyFilter");
			assertThat(output).contains("Idempotency: no annotated handlers or methods (memory)");
		});
	}

	@Test
	void keepsKeysInTheDatabaseWithoutRedis(CapturedOutput output) {
		start(REDIS).withPropertyValues(WebApplication.WITH_OPERATIONS).run((context) -> {
			assertThat(context).hasNotFailed().hasBean("jdbcIdempotencyStore");
			assertThat(output).contains("Idempotency: no annotated handlers or methods (Database)");
		});
	}

	@Test
	void keepsKeysInRedisWithoutADatabase() {
		start(JDBC).withPropertyValues(WebApplication.WITH_OPERATIONS)
			.run((context) -> assertThat(context).hasNotFailed().hasBean("redisIdempotencyStore"));
	}

	@Test
	void failsWithoutTheConfiguredDatabase() {
		start(JDBC).withPropertyValues("idempotent.store=jdbc")
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseMessage("idempotent.store is jdbc, which this application does not have."));
	}

	@Test
	void failsWithoutAStore() {
		start(Stream.concat(Stream.of(REDIS), Stream.of(JDBC)).toArray(String[]::new))
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseMessage("There is no store for idempotency keys."));
	}

	@Test
	void usesTheConnectionsOfAnotherClientThanLettuce(CapturedOutput output) {
		start(OtherClient.class, "io.lettuce").withPropertyValues(WebApplication.WITH_OPERATIONS).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("Idempotency: no annotated handlers or methods (Redis)");
		});
	}

	@ParameterizedTest
	@CsvSource({ "io.micrometer.core,idempotencyMetrics", "io.micrometer.tracing,idempotencyClaimTraces",
			"com.github.benmanes,idempotencyReplayCacheMeters", "io.micrometer,micrometerIdempotencyObserver" })
	void worksWithoutALibraryForObservations(String library, String absent) {
		start(library).withPropertyValues(WebApplication.WITH_OPERATIONS)
			.run((context) -> assertThat(context).hasBean("idempotencyFilter").doesNotHaveBean(absent));
	}

	@Tag("long")
	@Test
	void worksWithoutContextPropagation() {
		start("io.micrometer.context").run((context) -> assertThat(context).hasBean("idempotencyFilter"));
	}

	@Tag("long")
	@ParameterizedTest
	@ValueSource(strings = { "org.springdoc.core.customizers", "io.swagger" })
	void worksWithoutSpringdoc(String library) {
		start(library).withPropertyValues(WebApplication.WITH_SPRINGDOC)
			.run((context) -> assertThat(context).hasBean("idempotencyFilter")
				.doesNotHaveBean("idempotencyOpenApiCustomizer"));
	}

	@Test
	void describesNothingIfTheApplicationHasSwitchedOffSpringdoc() {
		start("unknown").withPropertyValues(WebApplication.WITH_SPRINGDOC, "springdoc.api-docs.enabled=false")
			.run((context) -> assertThat(context).hasBean("idempotencyFilter")
				.doesNotHaveBean("idempotencyOpenApiCustomizer"));
	}

	@Tag("long")
	@Test
	void worksWithoutSpringKafka() {
		start("org.springframework.kafka").run((context) -> assertThat(context).hasNotFailed()
			.hasBean("idempotencyTemplate")
			.doesNotHaveBean("idempotencyKafkaErrorHandler"));
	}

	@Test
	void worksWithoutSpringAi() {
		start("org.springframework.ai", "io.modelcontextprotocol").run((context) -> assertThat(context).hasNotFailed()
			.hasBean("idempotencyTemplate")
			.doesNotHaveBean("idempotentToolCalls"));
	}

	/**
	 * Runs, replays and refuses a call: only then are all classes of tools linked.
	 */
	@Test
	void runsToolsOnceWithoutMcp() {
		String[] missing = { "io.modelcontextprotocol", "org.springframework.ai.mcp" };
		start(Tools.class, Stream.concat(Stream.of(REDIS), Stream.of(missing)).toArray(String[]::new))
			.withPropertyValues("idempotent.tool.single-caller=true")
			.run((context) -> {
				assertThat(context).hasNotFailed()
					.hasBean("idempotentToolsCheck")
					.doesNotHaveBean("idempotentMcpTools");
				Object tools = context.getBean("tools");
				assertThat(buy(tools, "tea", "k")).isEqualTo("tea 1");
				assertThat(buy(tools, "tea", "k")).isEqualTo("tea 1");
				assertThat(buy(tools, "tea", null)).isEqualTo("tea 2");
				assertThatExceptionOfType(InvocationTargetException.class).isThrownBy(() -> buy(tools, "rum", "k"))
					.satisfies((ex) -> assertThat(ex.getCause())
						.hasToString("dev.idempotent.idempotency.ToolCallRefusedException: "
								+ Reason.OTHER_ARGUMENTS.sentence()));
			});
	}

	/**
	 * The class that tells streams is of an internal package of Spring AI.
	 */
	@Test
	void refusesToolsWithoutARequestAndACallerIfSpringAiDoesNotTellStreams(CapturedOutput output) {
		String[] missing = Stream.concat(Stream.of(REDIS), Stream.of("org.springframework.ai.model.tool.internal"))
			.toArray(String[]::new);
		start(Tools.class, missing).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(InvocationTargetException.class)
				.isThrownBy(() -> buy(context.getBean("tools"), "tea", null))
				.satisfies((ex) -> assertThat(ex.getCause()).hasToString(
						"dev.idempotent.idempotency.ToolCallRefusedException: " + Reason.CALLER_UNKNOWN.sentence()));
			assertThat(output).contains("This version of Spring AI does not bind the context of a stream");
		});
		start(Tools.class, missing).withPropertyValues("idempotent.tool.single-caller=true")
			.run((context) -> assertThat(buy(context.getBean("tools"), "tea", null)).isEqualTo("tea 1"));
	}

	/**
	 * The class of the bean was loaded by another loader than this one.
	 */
	private static Object buy(Object tools, String item, @Nullable String orderKey) throws Exception {
		Method buy = tools.getClass().getDeclaredMethod("buy", String.class, String.class);
		return buy.invoke(tools, item, orderKey);
	}

	@Test
	void refusesAToolWithoutSpringAi() {
		start(NoTool.class, "org.springframework.ai", "io.modelcontextprotocol")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("takes its key from the call of a tool, and there is no Spring AI"));
	}

	@Test
	void leavesAnApplicationWithoutMvcAlone() {
		start("org.springframework.web.servlet").withPropertyValues(WebApplication.WITH_OPERATIONS)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("idempotencyFilter"));
	}

	private static WebApplicationContextRunner start(String... missing) {
		return start(Application.class, missing);
	}

	private static WebApplicationContextRunner start(Class<?> application, String... missing) {
		ClassPathWithout classPath = CLASS_PATHS.computeIfAbsent(Set.of(missing),
				(key) -> new ClassPathWithout(missing));
		try {
			return new WebApplicationContextRunner().withClassLoader(classPath)
				.withPropertyValues("idempotent.namespace=shop")
				.withUserConfiguration(classPath.loadClass(application.getName()));
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OtherClient {

		@Bean
		RedisConnectionFactory otherClient() {
			return mock();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OwnStore {

		@Bean
		InMemoryIdempotencyStore ownStore() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@RestController
	static class Forms {

		@Idempotent(from = KeySource.FINGERPRINT, retention = "1m", name = "forms.give")
		@PostMapping("/feedback")
		void give() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class NoTool {

		@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "buy")
		String buy(String item) {
			return item;
		}

	}

	@Configuration(value = "tools", proxyBeanMethods = false)
	@EnableAutoConfiguration
	public static class Tools {

		private int bought;

		@Tool
		@Idempotent(from = KeySource.TOOL_CALL, key = "#orderKey", window = "15m", name = "buy")
		public String buy(String item, @Nullable String orderKey) {
			this.bought++;
			return item + " " + this.bought;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Forms.class)
	static class ScopedForms {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "everyone";
		}

	}

}
