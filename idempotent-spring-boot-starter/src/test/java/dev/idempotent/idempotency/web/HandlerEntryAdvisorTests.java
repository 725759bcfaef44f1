package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.PackagePrivateMethod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.SimpleTraceInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.Ordered;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HandlerEntryAdvisor}.
 */
class HandlerEntryAdvisorTests {

	private final HandlerEntryAdvisor advisor = new HandlerEntryAdvisor();

	@ParameterizedTest
	@ValueSource(classes = { Orders.class, MoreOrders.class, OrdersOfAnInterface.class, OrdersWithFinalPrivates.class })
	void advisesAnnotatedMethodsWhereverTheyAreDeclared(Class<?> handler) {
		assertThat(isAdvised(handler)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(classes = { FinalOrders.class, OrdersRecord.class, OrdersWithAFinalMethod.class,
			OrdersWithAnInheritedFinalMethod.class, SealedOrders.class, OrdersWithAPrivateConstructor.class,
			OrdersWithAPrivateHandler.class, OrdersWithAPrivateExceptionHandler.class,
			OrdersWithAMethodOfAnotherPackage.class })
	void leavesWhatCannotBeProxiedAlone(Class<?> handler) {
		assertThat(isAdvised(handler)).isFalse();
	}

	@Test
	void leavesOtherMethodsAlone() throws NoSuchMethodException {
		assertThat(isAdvised(Feedback.class)).isFalse();
		assertThat(this.advisor.matches(Orders.class.getDeclaredMethod("list"), Orders.class)).isFalse();
		assertThat(this.advisor.matches(Orders.class.getDeclaredMethod("place"), Orders.class)).isTrue();
	}

	@Test
	void leavesMethodsThatNoRequestComesToToOthers() {
		assertThat(isAdvised(OrderService.class)).isFalse();
		assertThat(isAdvised(OrdersWithoutMapping.class)).isFalse();
	}

	@Test
	void comesAfterAllOtherAdvice() {
		assertThat(this.advisor.getOrder()).isEqualTo(Ordered.LOWEST_PRECEDENCE);
	}

	@Test
	void knowsWhatItAdvises() {
		Orders orders = new Orders();
		ProxyFactory others = new ProxyFactory(orders);
		others.addAdvice(new SimpleTraceInterceptor());
		assertThat(HandlerEntryAdvisor.advises(advised(orders))).isTrue();
		assertThat(HandlerEntryAdvisor.advises(others.getProxy())).isFalse();
		assertThat(HandlerEntryAdvisor.advises(orders)).isFalse();
	}

	@Test
	void letsAMethodRunOutsideAnyRequest() {
		assertThat(advised(new Orders()).place()).isEqualTo("placed");
	}

	private boolean isAdvised(Class<?> handler) {
		return AopUtils.canApply((Advisor) this.advisor, handler);
	}

	private Orders advised(Orders orders) {
		ProxyFactory factory = new ProxyFactory(orders);
		factory.addAdvisor(this.advisor);
		return (Orders) factory.getProxy();
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
