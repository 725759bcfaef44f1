package dev.idempotent.idempotency.web;

import java.lang.reflect.Method;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.Feedback;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.FinalOrders;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.MoreOrders;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrderService;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.Orders;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersOfAnInterface;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersRecord;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithAFinalMethod;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithAMethodOfAnotherPackage;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithAPrivateConstructor;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithAPrivateExceptionHandler;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithAPrivateHandler;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithAnInheritedFinalMethod;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithFinalPrivates;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.OrdersWithoutMapping;
import dev.idempotent.idempotency.web.HandlerInvocationAdvisorTests.ProxiedControllers.SealedOrders;
import dev.idempotent.testing.PackagePrivateMethod;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.SimpleTraceInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;

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

	/**
	 * Controllers that can be proxied, and those that cannot.
	 */
	static final class ProxiedControllers {

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

}
