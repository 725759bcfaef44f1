package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Handlers with a mistake in {@link Idempotent @Idempotent}, one mistake each, and some
 * without.
 */
final class MistakenHandlers {

	private MistakenHandlers() {
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
	static class UnknownPathVariable {

		@Idempotent(key = "#body.id + '-' + #path?.idd")
		@PostMapping("/shops/{shop}/orders/{id:[0-9]{1,9}}")
		void place(String order) {
		}

	}

	@RestController
	static class UnknownPathIndex {

		@Idempotent(key = "#path['idd'].length()")
		@PostMapping("/shops/{shop}/orders/{*id}")
		void place(String order) {
		}

	}

	@RestController
	static class UnknownPathKey {

		@Idempotent(key = "{#path[idd], #path.id}")
		@PostMapping("/shops/{shop}/orders/{id}")
		void place(String order) {
		}

	}

	@RestController
	static class NoPathVariable {

		@Idempotent(key = "#path.id")
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

		@Idempotent(from = KeySource.FINGERPRINT)
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

		@Idempotent(key = "#body.items.![#this.id]")
		@PostMapping("/baskets")
		void fill(String items) {
		}

		@Idempotent(key = "#path['cart'] ?: #path['basket']")
		@PostMapping({ "/carts/{cart}", "/baskets/{basket}" })
		void pay(String payment) {
		}

		@Idempotent(from = KeySource.FINGERPRINT, retention = "30s")
		@PostMapping("/feedback")
		void feedback(String text) {
		}

	}

}
