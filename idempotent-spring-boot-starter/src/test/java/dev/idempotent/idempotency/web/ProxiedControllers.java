package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.PackagePrivateMethod;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;

/**
 * Controllers that can be proxied, and those that cannot.
 */
final class ProxiedControllers {

	private ProxiedControllers() {
	}

	@Controller
	@SuppressWarnings("UnusedMethod")
	static class OrdersWithAPrivateHandler extends Orders {

		@PostMapping("/private")
		private String placePrivately() {
			return "placed";
		}

	}

	@Controller
	@SuppressWarnings("UnusedMethod")
	static class OrdersWithAPrivateExceptionHandler extends Orders {

		@ExceptionHandler
		private String answer(IllegalStateException ex) {
			return "failed: " + ex.getMessage();
		}

	}

	@Controller
	static class OrdersWithAMethodOfAnotherPackage extends PackagePrivateMethod {

		@Idempotent
		@PostMapping
		String place() {
			return "placed";
		}

	}

	@Controller
	static class Orders {

		@Idempotent
		@PostMapping
		String place() {
			return "placed";
		}

		String list() {
			return "";
		}

	}

	@Controller
	static class MoreOrders extends Orders {

		@Override
		String place() {
			return "more";
		}

	}

	@Controller
	interface OrdersApi {

		@Idempotent
		@PostMapping
		void place();

	}

	@Controller
	static class OrdersOfAnInterface implements OrdersApi {

		@Override
		public void place() {
		}

	}

	@Controller
	static class OrdersWithFinalPrivates {

		@Idempotent
		@PostMapping
		void place() {
			check();
		}

		private final void check() {
		}

		static final void log() {
		}

	}

	@Controller
	static final class FinalOrders {

		@Idempotent
		@PostMapping
		void place() {
		}

	}

	@Controller
	record OrdersRecord() {

		@Idempotent
		@PostMapping
		void place() {
		}

	}

	@Controller
	static class OrdersWithAFinalMethod {

		@Idempotent
		@PostMapping
		void place() {
		}

		final void list() {
		}

	}

	@Controller
	static class OrdersWithAnInheritedFinalMethod extends OrdersWithAFinalMethod {

		@Override
		void place() {
		}

	}

	@Controller
	static sealed class SealedOrders permits LastOrders {

		@Idempotent
		@PostMapping
		void place() {
		}

	}

	@Controller
	static final class LastOrders extends SealedOrders {

	}

	@Controller
	static class OrdersWithAPrivateConstructor {

		private OrdersWithAPrivateConstructor() {
		}

		@Idempotent
		@PostMapping
		void place() {
		}

	}

	@Controller
	static class Feedback {

		void give() {
		}

	}

	static class OrderService {

		@Idempotent
		@PostMapping
		void place() {
		}

	}

	@Controller
	static class OrdersWithoutMapping {

		@Idempotent
		void place() {
		}

	}

}
