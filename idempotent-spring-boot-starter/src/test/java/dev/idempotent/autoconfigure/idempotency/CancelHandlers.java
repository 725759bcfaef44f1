package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Actions and cancels, most of which do not fit.
 */
final class CancelHandlers {

	private CancelHandlers() {
	}

	@RestController
	static class Fine {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/act")
		void act() {
		}

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	static class FineWithTwoCancels extends Fine {

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/expire")
		void expire() {
		}

	}

	interface Declared {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/act")
		void act();

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel();

	}

	@RestController
	static class FineByInterface implements Declared {

		@Override
		public void act() {
		}

		@Override
		public void cancel() {
		}

	}

	@RestController
	static class UnknownAction {

		@Cancels("unknown")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	static class TwoActions extends Fine {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/other")
		void other() {
		}

	}

	static class Itself extends Fine {

		@Cancels("act")
		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/itself")
		void itself() {
		}

	}

	@RestController
	static class OfACancel {

		@Cancels("act")
		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/act")
		void act() {
		}

	}

	@RestController
	static class LeaseCancel {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/act")
		void act() {
		}

		@Cancels("act")
		@Idempotent
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	@RestController
	static class LeaseAction {

		@Idempotent(name = "act")
		@PostMapping("/act")
		void act() {
		}

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	@RestController
	static class FingerprintKeys {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION, from = KeySource.HEADER_OR_FINGERPRINT)
		@PostMapping("/act")
		void act() {
		}

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	@RestController
	static class ExpressionKeys {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/act")
		void act() {
		}

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION, key = "#headers['X-Id']", name = "expression-keys.cancel")
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	@RestController
	static class NotIdempotent {

		@Cancels("act")
		@PostMapping("/cancel")
		void cancel() {
		}

	}

	@Component
	static class OnAMethod {

		@Cancels("act")
		@Idempotent(key = "#id", name = "on-a-method.cancel")
		void cancel(String id) {
		}

	}

	@Component
	static class OnAMethodAlone {

		@Cancels("act")
		void cancel(String id) {
		}

	}

	@RestController
	@Import(ActionIsAMethod.Action.class)
	static class ActionIsAMethod {

		@Cancels("act")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel() {
		}

		static class Action {

			@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION, key = "#id")
			void act(String id) {
			}

		}

	}

	@RestController
	static class OtherManager {

		@Idempotent(name = "act", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/act")
		void act() {
		}

		@Cancels("act")
		@Transactional("second")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/cancel")
		void cancel() {
		}

	}

}
