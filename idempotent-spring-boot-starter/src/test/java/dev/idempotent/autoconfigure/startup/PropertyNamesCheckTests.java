package dev.idempotent.autoconfigure.startup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * An unknown property stops the application, in any form in which it is written.
 */
@ExtendWith(OutputCaptureExtension.class)
class PropertyNamesCheckTests {

	private static final String METADATA = "/META-INF/spring-configuration-metadata.json";

	private static final String MAP = "idempotent.encryption.keys";

	private static final Set<String> MAPS = Set.of(MAP, "idempotent.client.targets", "idempotent.outbox.topics",
			"idempotent.outbox.handlers.leases", "idempotent.outbox.handlers.concurrencies");

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(StartupCheckAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource({ "idempotent.retentoin, idempotent.retention", "idempotent.web.heade, idempotent.web.header",
			"idempotent.web.wait-timeouts, idempotent.web.wait-timeout", "idempotent.enabeld, idempotent.enabled",
			"idempotent.client.target[0], idempotent.client.targets", "idempotent.lease[0], idempotent.lease",
			"idempotent.token.secret[0], idempotent.token.secrets",
			"idempotent.token.secrets[0].id, idempotent.token.secrets",
			"idempotent.token.secrets[one], idempotent.token.secrets", "idempotent.lease.min, idempotent.lease",
			"idempotent.relay.batch-size, idempotent.outbox.relay.batch-size",
			"idempotent.outbox.relay.batch.size.max, idempotent.outbox.relay.batch-size" })
	void stopTheApplicationWithTheNearestName(String property, String nearest) {
		this.application.withPropertyValues(property + "=s3cret")
			.run((context) -> assertThat(context).getFailure()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessageStartingWith("There is no property " + property + " (")
				.hasMessageContaining("from property source \"test\"")
				.hasMessageNotContaining("s3cret")
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.startsWith("Did you mean " + nearest + "? Correct "));
	}

	@Test
	void areAllReported() {
		this.application.withPropertyValues("idempotent.leas=1s", "idempotent.storre=jdbc")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContainingAll("idempotent.leas ", "idempotent.storre "));
	}

	@Test
	void areReportedWithTheLineInTheirFile(@TempDir Path directory) throws IOException {
		Path file = Files.writeString(directory.resolve("application.yaml"), """
				idempotent:
				  web:
				    heade: Key
				""");
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
				.run("--spring.config.location=" + file.toUri()))
			.withMessageContaining("application.yaml] - 3:12");
	}

	@ParameterizedTest
	@ValueSource(strings = { "IDEMPOTENT_WEB_HEADR", "IDEMPOTENT_WEB_MAXREQUESTBODYS", "IDEMPOTENT_WEB_MAX_REQUEST_BDY",
			"IDEMPOTENT_CLIENT_TARGET_0" })
	void areFoundAmongEnvironmentVariables(String variable) {
		withVariables(Map.of(variable, "x")).run((context) -> assertThat(context).getFailure()
			.hasMessageContaining("(\"" + variable + "\" from property source \"systemEnvironment\")"));
	}

	@Test
	void doNotIncludeVariablesOfAPlatform(CapturedOutput output) {
		withVariables(Map.of("IDEMPOTENT_SERVICE_HOST", "10.0.0.1", "IDEMPOTENT_PORT_8080_TCP_PROTO", "tcp"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).containsOnlyOnce("have no effect")
					.contains("IDEMPOTENT_SERVICE_HOST", "IDEMPOTENT_PORT_8080_TCP_PROTO")
					.doesNotContain("10.0.0.1");
			});
	}

	@Test
	void doNotIncludeAnyKnownPropertyInAnyForm() throws IOException {
		assertStarts(known(UnaryOperator.identity()));
		assertStarts(known((name) -> name.replace("-", "")));
		assertStarts(known((name) -> name.replace('-', '_')));
		assertStarts(known(String::toUpperCase));
		assertStarts(Map.of("idempotent.client.targets.pay[0]", "a", "idempotent.web.storedStatuses[12]", "200"));
		withVariables(known((name) -> name.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT)))
			.run((context) -> assertThat(context).hasNotFailed());
		withVariables(known((name) -> name.replace('-', '_').replace('.', '_').toUpperCase(Locale.ROOT)))
			.run((context) -> assertThat(context).hasNotFailed());
		withVariables(Map.of("IDEMPOTENT_CLIENT_TARGETS_PAY_0", "a", "IDEMPOTENT_WEB_STORED_STATUSES_1", "200"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * It would not be bound, and the report of that would show it.
	 */
	@ParameterizedTest
	@ValueSource(strings = { MAP, "idempotent.encryption.KEYS" })
	void includeAValueInPlaceOfNamedValuesWithoutShowingIt(String property) {
		this.application.withPropertyValues(property + "=s3cret")
			.run((context) -> assertThat(context).getFailure()
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.hasMessageStartingWith(MAP + " has a value of its own (")
				.hasMessageNotContaining("s3cret")
				.extracting(IdempotentConfigurationException::getAction)
				.isEqualTo("Set " + MAP + ".<name>, with a name for each value."));
	}

	@Test
	void areThoseOfTheMetadata() throws IOException {
		assertThat(KnownProperties.read().keySet()).containsExactlyInAnyOrderElementsOf(metadata());
	}

	@Test
	void doNotIncludeThoseOfTheApplication() {
		assertStarts(Map.of("idempotents.lease", "1s", "my.idempotent.leas", "1s", "idempotent-shop.leas", "1s"));
	}

	@Test
	void doNotIncludeAnEmptyGroup() {
		assertStarts(Map.of("idempotent", "", "idempotent.web", "", "idempotent.outbox.relay", "",
				"idempotent.client.targets", ""));
	}

	@ParameterizedTest
	@CsvSource({ "idempotent.enabled, flase", "idempotent.outbox.enabled, yes", "idempotent.stream.enabled, ''",
			"idempotent.outbox.relay.enabled, on" })
	void includeABooleanThatIsNeitherTrueNorFalse(String property, String value) {
		this.application.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context).getFailure().hasMessage(property + " is neither true nor false."));
	}

	private void assertStarts(Map<String, String> properties) {
		this.application
			.withPropertyValues(properties.entrySet()
				.stream()
				.map((each) -> each.getKey() + "=" + each.getValue())
				.toArray(String[]::new))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private ApplicationContextRunner withVariables(Map<String, String> variables) {
		return this.application.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.replace("systemEnvironment",
					new SystemEnvironmentPropertySource("systemEnvironment", Map.copyOf(variables))));
	}

	private static Map<String, String> known(UnaryOperator<String> form) throws IOException {
		Map<String, String> properties = new TreeMap<>();
		metadata().forEach((name) -> properties.put(form.apply(MAPS.contains(name) ? name + ".k1" : name), "true"));
		return properties;
	}

	private static Set<String> metadata() throws IOException {
		try (InputStream metadata = KnownProperties.class.getResourceAsStream(METADATA)) {
			Map<String, String> names = new TreeMap<>();
			JsonMapper.shared()
				.readTree(metadata)
				.get("properties")
				.forEach((property) -> names.put(property.get("name").asString(), ""));
			names.keySet().removeIf((name) -> name.startsWith("management."));
			return names.keySet();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(StartupCheckAutoConfiguration.class)
	static class Application {

	}

}
