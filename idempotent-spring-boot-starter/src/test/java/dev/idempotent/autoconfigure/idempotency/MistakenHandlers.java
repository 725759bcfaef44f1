package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Handlers with a mistake in {@link Idempotent @Idempotent}, one mistake each, and some
 * without.
 */
final class MistakenHandlers {

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
			Method place = Objects.requireNonNull(ReflectionUtils.findMethod(Registered.class, "place", String.class));
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
