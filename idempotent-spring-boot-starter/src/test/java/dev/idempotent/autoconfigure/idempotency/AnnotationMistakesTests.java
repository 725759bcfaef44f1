package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

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

	/**
	 * Handlers with a mistake in {@link Idempotent @Idempotent}, one mistake each, and
	 * some without.
	 */
	static final class MistakenHandlers {

		private MistakenHandlers() {
		}

		@RestController
		static class ExpressionWithoutName {

			@Idempotent(key = "#body.id")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class FingerprintWithoutName {

			@Idempotent(from = KeySource.FINGERPRINT, retention = "1m")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class HeaderOrFingerprintWithoutName {

			@Idempotent(from = KeySource.HEADER_OR_FINGERPRINT)
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class SharedName {

			@Idempotent(key = "#body.id", name = "order")
			@PostMapping("/orders")
			void place(String order) {
			}

			@Idempotent(from = KeySource.FINGERPRINT, retention = "1m", name = "order")
			@PostMapping("/returns")
			void place(String order, String reason) {
			}

		}

		/**
		 * A handler that the application maps for each of its instances.
		 */
		record Registered(String path) {

			@Idempotent(key = "#body.id", name = "order")
			void place(String order) {
			}

			void addTo(RequestMappingHandlerMapping mapping) {
				Method place = Objects
					.requireNonNull(ReflectionUtils.findMethod(Registered.class, "place", String.class));
				mapping.registerMapping(RequestMappingInfo.paths(this.path).methods(RequestMethod.POST).build(), this,
						place);
			}

		}

		interface Registration {

			void addTo(RequestMappingHandlerMapping mapping);

		}

		@Configuration(proxyBeanMethods = false)
		static class Registering {

			@Autowired
			void register(RequestMappingHandlerMapping mapping, List<Registration> registrations) {
				registrations.forEach((each) -> each.addTo(mapping));
			}

		}

		@RestController
		static class Malformed {

			@Idempotent(key = "#body[", name = "malformed.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class UnknownVariable {

			@Idempotent(key = "#boddy.id", name = "unknown-variable.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class DeepUnknownVariable {

			@Idempotent(key = "#body.id + '-' + #query[#order.id]", name = "deep-unknown-variable.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class UnknownPathVariable {

			@Idempotent(key = "#body.id + '-' + #path?.idd", name = "unknown-path-variable.place")
			@PostMapping("/shops/{shop}/orders/{id:[0-9]{1,9}}")
			void place(String order) {
			}

		}

		@RestController
		static class UnknownPathIndex {

			@Idempotent(key = "#path['idd'].length()", name = "unknown-path-index.place")
			@PostMapping("/shops/{shop}/orders/{*id}")
			void place(String order) {
			}

		}

		@RestController
		static class UnknownPathKey {

			@Idempotent(key = "{#path[idd], #path.id}", name = "unknown-path-key.place")
			@PostMapping("/shops/{shop}/orders/{id}")
			void place(String order) {
			}

		}

		@RestController
		static class NoPathVariable {

			@Idempotent(key = "#path.id", name = "no-path-variable.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class ForgottenHash {

			@Idempotent(key = "body.id", name = "forgotten-hash.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class OverType {

			@Idempotent(key = "T(java.lang.Math).random() + #body.id", name = "over-type.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class OverBean {

			@Idempotent(key = "@keys.of(#body)", name = "over-bean.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class OverFunction {

			@Idempotent(key = "#key(#body)", name = "over-function.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class LeaseWithoutMeaning {

			@Idempotent(lease = "abc")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class LeaseOfNoTime {

			@Idempotent(lease = "0s")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class RetentionWithoutMeaning {

			@Idempotent(retention = "a day")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class EverythingIgnored {

			@Idempotent(ignore = "*")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class ShortRetention {

			@Idempotent(lease = "2m", retention = "1m")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class FingerprintWithoutRetention {

			@Idempotent(from = KeySource.FINGERPRINT, name = "fingerprint-without-retention.place")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class TokenWithoutSecret {

			@Idempotent(from = KeySource.TOKEN, name = "order")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class TokenWithoutName {

			@Idempotent(from = KeySource.TOKEN)
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class TokenAndKey {

			@Idempotent(from = KeySource.TOKEN, name = "order", key = "#body.id")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class Sensible {

			@Idempotent(key = "#headers['X'] + #query['x'] + #path['x'] + #body.x + #principal.name", lease = "PT1M",
					retention = "1m", guarantee = Guarantee.LEASE, name = "order")
			@PostMapping("/orders/{x}")
			void place(String order) {
			}

			@Idempotent(key = "#body.items.![#this.id]", name = "sensible.fill")
			@PostMapping("/baskets")
			void fill(String items) {
			}

			@Idempotent(key = "#path['cart'] ?: #path['basket']", name = "sensible.pay")
			@PostMapping({ "/carts/{cart}", "/baskets/{basket}" })
			void pay(String payment) {
			}

			@Idempotent(from = KeySource.FINGERPRINT, retention = "30s", name = "sensible.feedback")
			@PostMapping("/feedback")
			void feedback(String text) {
			}

		}

		@RestController
		static class BlankHeader {

			@Idempotent(include = " ")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class MalformedHeader {

			@Idempotent(include = "X-Account: 1")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class HeaderTwice {

			@Idempotent(include = { "X-Account", "x-account" })
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class KeyHeaderIncluded {

			@Idempotent(include = "idempotency-key")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class CredentialsIncluded {

			@Idempotent(include = "Authorization")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class TraceIncluded {

			@Idempotent(include = { "X-Account", "traceparent" })
			@PostMapping("/orders")
			void place(String order) {
			}

		}

		@RestController
		static class EverythingIgnoredButAHeader {

			@Idempotent(key = "#body.id", name = "place", ignore = "*", include = "X-Account")
			@PostMapping("/orders")
			void place(String order) {
			}

		}

	}

}
