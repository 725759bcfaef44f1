package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.web.ProxiedControllers.Feedback;
import dev.idempotent.idempotency.web.ProxiedControllers.FinalOrders;
import dev.idempotent.idempotency.web.ProxiedControllers.MoreOrders;
import dev.idempotent.idempotency.web.ProxiedControllers.OrderService;
import dev.idempotent.idempotency.web.ProxiedControllers.Orders;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersOfAnInterface;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersRecord;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithAFinalMethod;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithAMethodOfAnotherPackage;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithAPrivateConstructor;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithAPrivateExceptionHandler;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithAPrivateHandler;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithAnInheritedFinalMethod;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithFinalPrivates;
import dev.idempotent.idempotency.web.ProxiedControllers.OrdersWithoutMapping;
import dev.idempotent.idempotency.web.ProxiedControllers.SealedOrders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.SimpleTraceInterceptor;
import org.springframework.aop.support.AopUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HandlerInvocationAdvisor}.
 */
class HandlerInvocationAdvisorTests {

	private final HandlerInvocationAdvisor advisor = new HandlerInvocationAdvisor(true, () -> false,
			() -> Guarantee.LEASE);

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
	void skipsWhatCannotBeProxied(Class<?> handler) {
		assertThat(isAdvised(handler)).isFalse();
	}

	@Test
	void skipsOtherMethods() throws NoSuchMethodException {
		assertThat(isAdvised(Feedback.class)).isFalse();
		assertThat(this.advisor.matches(Orders.class.getDeclaredMethod("list"), Orders.class)).isFalse();
		assertThat(this.advisor.matches(Orders.class.getDeclaredMethod("place"), Orders.class)).isTrue();
	}

	@Test
	void skipsMethodsWithoutAMapping() {
		assertThat(isAdvised(OrderService.class)).isFalse();
		assertThat(isAdvised(OrdersWithoutMapping.class)).isFalse();
	}

	@Test
	void watchesHandlersWithoutAnnotationIfTheyNeedAKey() throws NoSuchMethodException {
		Method unannotated = OrdersWithAPrivateHandler.class.getDeclaredMethod("placePrivately");
		assertThat(this.advisor.matches(unannotated, OrdersWithAPrivateHandler.class)).isFalse();
		assertThat(new HandlerInvocationAdvisor(true, () -> true, () -> Guarantee.LEASE).matches(unannotated,
				OrdersWithAPrivateHandler.class))
			.isTrue();
	}

	@Test
	void watchesAHandlerIfItsAdviceIsTheLast() throws NoSuchMethodException {
		Orders orders = new Orders();
		ProxyFactory others = new ProxyFactory(orders);
		others.setProxyTargetClass(true);
		others.addAdvice(new SimpleTraceInterceptor());
		assertThat(isWatched(advised(orders))).isTrue();
		assertThat(isWatched(advised((Orders) others.getProxy()))).isFalse();
		assertThat(isWatched(orders)).isFalse();
		others.addAdvisor(this.advisor);
		assertThat(HandlerInvocationAdvisor.isWatched(others.getProxy(), Orders.class.getDeclaredMethod("list")))
			.isFalse();
		assertThat(isWatched(others.getProxy())).isTrue();
		others.addAdvice(new SimpleTraceInterceptor());
		assertThat(isWatched(others.getProxy())).isFalse();
	}

	@Test
	void cannotWatchAMethodThatAProxyCannotOverride() throws NoSuchMethodException {
		OrdersWithAPrivateHandler proxy = (OrdersWithAPrivateHandler) advised(new OrdersWithAPrivateHandler());
		assertThat(HandlerInvocationAdvisor.isAdvised(proxy, Orders.class.getDeclaredMethod("place"))).isTrue();
		assertThat(HandlerInvocationAdvisor.isAdvised(proxy,
				OrdersWithAPrivateHandler.class.getDeclaredMethod("placePrivately")))
			.isFalse();
		assertThat(HandlerInvocationAdvisor.isAdvised(new Orders(), Orders.class.getDeclaredMethod("place"))).isFalse();
	}

	@Test
	void letsAMethodRunOutsideARequest() {
		assertThat(advised(new Orders()).place()).isEqualTo("placed");
	}

	private static boolean isWatched(Object bean) throws NoSuchMethodException {
		return HandlerInvocationAdvisor.isWatched(bean, Orders.class.getDeclaredMethod("place"));
	}

	private boolean isAdvised(Class<?> handler) {
		return AopUtils.canApply((Advisor) this.advisor, handler) && HandlerInvocationAdvisor.needsProxy(handler);
	}

	private Orders advised(Orders orders) {
		ProxyFactory factory = new ProxyFactory(orders);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(this.advisor);
		return (Orders) factory.getProxy();
	}

}
