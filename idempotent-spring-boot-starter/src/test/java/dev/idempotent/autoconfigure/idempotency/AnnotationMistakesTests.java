package dev.idempotent.autoconfigure.idempotency;

import java.util.Locale;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for mistakes in {@link Idempotent @Idempotent}, each of which stops the
 * application with the name of the method.
 */
class AnnotationMistakesTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DataRedisAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withPropertyValues("idempotent.namespace=shop");

	@Test
	void includeAnExpressionThatIsNone() {
		assertStops(MistakenHandlers.Malformed.class, "key expression '#body['", "SpEL");
	}

	@Test
	void includeAnExpressionOverAnUnknownVariable() {
		assertStops(MistakenHandlers.UnknownVariable.class,
				"no variable #boddy, only #body, #headers, #path, #principal, #query", "SpEL");
	}

	@Test
	void includeAnUnknownVariableDeepInAnExpression() {
		assertStops(MistakenHandlers.DeepUnknownVariable.class, "no variable #order", "SpEL");
	}

	@ParameterizedTest
	@ValueSource(classes = { MistakenHandlers.UnknownPathVariable.class, MistakenHandlers.UnknownPathIndex.class,
			MistakenHandlers.UnknownPathKey.class })
	void includeAnUnknownPathVariable(Class<?> controller) {
		assertStops(controller,
				"reads #path.idd in its key expression, and its URL patterns have only the variables " + "[id, shop]",
				"Correct the name, or add {idd} to the URL pattern");
	}

	@Test
	void includeAPathVariableWithoutOneInTheUrl() {
		assertStops(MistakenHandlers.NoPathVariable.class, "its URL patterns have no variables", "add {id}");
	}

	@Test
	void includeAnExpressionThatForgetsTheHash() {
		assertStops(MistakenHandlers.ForgottenHash.class,
				"reads a property without a variable; the variables are #body", "SpEL");
	}

	@Test
	void includeAnExpressionThatReachesForATypeOrABeanOrAFunction() {
		assertStops(MistakenHandlers.OverType.class, "T(java.lang.Math) is not allowed, only the variables #", "SpEL");
		assertStops(MistakenHandlers.OverBean.class, "@keys is not allowed, only the variables #", "SpEL");
		assertStops(MistakenHandlers.OverFunction.class, "#key(#body) is not allowed, only the variables #", "SpEL");
	}

	@Test
	void includeALeaseThatIsNoDuration() {
		assertStops(MistakenHandlers.LeaseWithoutMeaning.class, "lease 'abc'", "30s");
	}

	@Test
	void includeALeaseOfNoTime() {
		assertStops(MistakenHandlers.LeaseOfNoTime.class, "lease '0s'", "30s");
	}

	@Test
	void includeARetentionThatIsNoDuration() {
		assertStops(MistakenHandlers.RetentionWithoutMeaning.class, "retention 'a day'", "24h");
	}

	@Test
	void includeARetentionShorterThanTheLease() {
		assertStops(MistakenHandlers.ShortRetention.class, "retention of PT1M, shorter than its lease of PT2M",
				"at least as long");
	}

	@Test
	void includeIgnoringEverythingWithoutAKey() {
		assertStops(MistakenHandlers.EverythingIgnored.class, "ignores everything and has no key",
				"key = \"#body.id\"");
	}

	@Test
	void includeAFingerprintWithoutARetention() {
		assertStops(MistakenHandlers.FingerprintWithoutRetention.class, "has no retention", "retention = \"1m\"");
	}

	@Test
	void includeATokenWithoutASecret() {
		assertStops(MistakenHandlers.TokenWithoutSecret.class,
				"takes its key from a one-time token, and idempotent.token.secrets is empty", "openssl rand");
	}

	@Test
	void includeATokenWithoutAName() {
		assertStops(MistakenHandlers.TokenWithoutName.class, "takes its key from a one-time token and has no name",
				"name = \"place-order\"");
	}

	@ParameterizedTest
	@ValueSource(classes = { MistakenHandlers.ExpressionWithoutName.class,
			MistakenHandlers.FingerprintWithoutName.class, MistakenHandlers.HeaderOrFingerprintWithoutName.class })
	void includeAKeyThatIsNotTheHeaderWithoutAName(Class<?> controller) {
		String proposal = controller.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
		assertStops(controller, "has no name",
				"Set a name that never changes, such as name = \"" + proposal + ".place\"");
	}

	@Test
	void includeANameOfTwoHandlers() {
		this.application.withUserConfiguration(MistakenHandlers.SharedName.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContainingAll("has the name 'order', as has ", "place(java.lang.String)",
						"place(java.lang.String, java.lang.String)"));
	}

	@Test
	void includeANameOfTwoBeans() {
		MistakenHandlers.Registered shop = new MistakenHandlers.Registered("/shop");
		MistakenHandlers.Registered branch = new MistakenHandlers.Registered("/branch");
		this.application.withBean("shop", MistakenHandlers.Registration.class, () -> shop::addTo)
			.withBean("branch", MistakenHandlers.Registration.class, () -> branch::addTo)
			.withUserConfiguration(MistakenHandlers.Registering.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContainingAll("Registered.place(java.lang.String) of the bean '",
						"has the name 'order', as has "));
	}

	@Test
	void includeATokenBesideAKeyExpression() {
		assertStops(MistakenHandlers.TokenAndKey.class, "takes its key from a one-time token and has a key expression",
				"Remove key");
	}

	@ParameterizedTest
	@ValueSource(classes = { MistakenHandlers.BlankHeader.class, MistakenHandlers.MalformedHeader.class })
	void includeAHeaderWithoutAName(Class<?> controller) {
		assertStops(controller, "an entry is not the name of a header", "such as X-Account");
	}

	@Test
	void includeAHeaderTwice() {
		assertStops(MistakenHandlers.HeaderTwice.class, "includes [X-Account, x-account]: 'x-account' occurs twice",
				"each header once");
	}

	@ParameterizedTest
	@ValueSource(classes = { MistakenHandlers.KeyHeaderIncluded.class, MistakenHandlers.CredentialsIncluded.class,
			MistakenHandlers.TraceIncluded.class })
	void includeAHeaderThatDiffersInARetry(Class<?> controller) {
		assertStops(controller, "is the key, or may have another value in a retry", "that a retry repeats");
	}

	@Test
	void includeAHeaderWhereEverythingIsIgnored() {
		assertStops(MistakenHandlers.EverythingIgnoredButAHeader.class, "ignores everything and includes headers",
				"Remove include");
	}

	@Test
	void doNotIncludeATokenWithASecretAndAName() {
		this.application.withUserConfiguration(MistakenHandlers.TokenWithoutSecret.class)
			.withPropertyValues("idempotent.token.secrets=k1:" + "A".repeat(43) + "=")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void doNotIncludeValidHandlers() {
		this.application.withUserConfiguration(MistakenHandlers.Sensible.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private void assertStops(Class<?> controller, String mistake, String action) {
		this.application.withUserConfiguration(controller)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageStartingWith("The @Idempotent method " + controller.getName() + ".place(java.lang.String) ")
				.hasMessageContaining(mistake)
				.asInstanceOf(throwable(IdempotentConfigurationException.class))
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.contains(action));
	}

}
