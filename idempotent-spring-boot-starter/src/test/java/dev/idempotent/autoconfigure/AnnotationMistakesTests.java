package dev.idempotent.autoconfigure;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * Tests for mistakes in {@link Idempotent @Idempotent}, each of which stops the
 * application with the name of the method.
 */
class AnnotationMistakesTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class, DataRedisAutoConfiguration.class,
				IdempotencyRedisAutoConfiguration.class, IdempotencyAutoConfiguration.class))
		.withPropertyValues("spring.application.name=shop");

	@Test
	void includeAnExpressionThatIsNone() {
		assertStops(Malformed.class, "key expression '#body['", "SpEL");
	}

	@Test
	void includeAnExpressionOverAnUnknownVariable() {
		assertStops(UnknownVariable.class, "no variable #boddy, only #body, #headers, #path, #principal, #query",
				"SpEL");
	}

	@Test
	void includeAnUnknownVariableDeepInAnExpression() {
		assertStops(DeepUnknownVariable.class, "no variable #order", "SpEL");
	}

	@Test
	void includeAnExpressionThatForgetsTheHash() {
		assertStops(ForgottenHash.class, "reads a property of no variable; there are #body", "SpEL");
	}

	@Test
	void includeAnExpressionThatReachesForATypeOrABeanOrAFunction() {
		assertStops(OverType.class, "T(java.lang.Math) is out of reach", "SpEL");
		assertStops(OverBean.class, "@keys is out of reach", "SpEL");
		assertStops(OverFunction.class, "#key(#body) is out of reach", "SpEL");
	}

	@Test
	void includeALeaseThatIsNoDuration() {
		assertStops(LeaseWithoutMeaning.class, "lease 'abc'", "30s");
	}

	@Test
	void includeALeaseOfNoTime() {
		assertStops(LeaseOfNoTime.class, "lease '0s'", "30s");
	}

	@Test
	void includeARetentionThatIsNoDuration() {
		assertStops(RetentionWithoutMeaning.class, "retention 'a day'", "24h");
	}

	@Test
	void includeARetentionShorterThanTheLease() {
		assertStops(ShortRetention.class, "retention of PT1M, shorter than its lease of PT2M", "at least as long");
	}

	@Test
	void includeARetentionShorterThanTheLeaseOfTheProperties() {
		assertStops(VeryShortRetention.class, "retention of PT1S, shorter than its lease of PT30S", "at least as long");
	}

	@Test
	void includeAFingerprintWithoutARetention() {
		assertStops(FingerprintWithoutRetention.class, "states no retention", "retention = \"1m\"");
	}

	@Test
	void doNotIncludeAnythingThatIsSensible() {
		this.application.withUserConfiguration(Sensible.class).run((context) -> assertThat(context).hasNotFailed());
	}

	private void assertStops(Class<?> controller, String mistake, String action) {
		this.application.withUserConfiguration(controller)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageStartingWith("The @Idempotent method " + controller.getName() + ".place(java.lang.String) ")
				.hasMessageContaining(mistake)
				.asInstanceOf(throwable(IdempotencyConfigurationException.class))
				.extracting(IdempotencyConfigurationException::getAction)
				.asString()
				.contains(action));
	}

	@RestController
	static class Malformed {

		@Idempotent(key = "#body[")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class UnknownVariable {

		@Idempotent(key = "#boddy.id")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class DeepUnknownVariable {

		@Idempotent(key = "#body.id + '-' + #query[#order.id]")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class ForgottenHash {

		@Idempotent(key = "body.id")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class OverType {

		@Idempotent(key = "T(java.lang.Math).random() + #body.id")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class OverBean {

		@Idempotent(key = "@keys.of(#body)")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class OverFunction {

		@Idempotent(key = "#key(#body)")
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
	static class ShortRetention {

		@Idempotent(lease = "2m", retention = "1m")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class VeryShortRetention {

		@Idempotent(retention = "1s")
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class FingerprintWithoutRetention {

		@Idempotent(from = KeySource.FINGERPRINT)
		@PostMapping("/orders")
		void place(String order) {
		}

	}

	@RestController
	static class Sensible {

		@Idempotent(key = "#headers['X'] + #query['x'] + #path['x'] + #body.x + #principal.name", lease = "PT1M",
				retention = "1m", guarantee = Guarantee.LEASE, name = "order")
		@PostMapping("/orders")
		void place(String order) {
		}

		@Idempotent(key = "#body.items.![#this.id]")
		@PostMapping("/baskets")
		void fill(String items) {
		}

		@Idempotent(from = KeySource.FINGERPRINT, retention = "30s")
		@PostMapping("/feedback")
		void feedback(String text) {
		}

	}

}
