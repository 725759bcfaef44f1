package dev.idempotent.idempotency.web;

import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.SimpleTraceInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.Ordered;

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
			OrdersWithAnInheritedFinalMethod.class, SealedOrders.class, OrdersWithAPrivateConstructor.class })
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

	static class Orders {

		@Idempotent
		String place() {
			return "placed";
		}

		String list() {
			return "";
		}

	}

	static class MoreOrders extends Orders {

		@Override
		String place() {
			return "more";
		}

	}

	interface OrdersApi {

		@Idempotent
		void place();

	}

	static class OrdersOfAnInterface implements OrdersApi {

		@Override
		public void place() {
		}

	}

	static class OrdersWithFinalPrivates {

		@Idempotent
		void place() {
			check();
		}

		private final void check() {
		}

		static final void log() {
		}

	}

	static final class FinalOrders {

		@Idempotent
		void place() {
		}

	}

	record OrdersRecord() {

		@Idempotent
		void place() {
		}

	}

	static class OrdersWithAFinalMethod {

		@Idempotent
		void place() {
		}

		final void list() {
		}

	}

	static class OrdersWithAnInheritedFinalMethod extends OrdersWithAFinalMethod {

		@Override
		void place() {
		}

	}

	static sealed class SealedOrders permits LastOrders {

		@Idempotent
		void place() {
		}

	}

	static final class LastOrders extends SealedOrders {

	}

	static class OrdersWithAPrivateConstructor {

		private OrdersWithAPrivateConstructor() {
		}

		@Idempotent
		void place() {
		}

	}

	static class Feedback {

		void give() {
		}

	}

}
