package dev.idempotent.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Objects;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.transaction.annotation.Transactional;

/**
 * Shops without a class, and with an annotation of their own.
 */
final class UnusualShops {

	private UnusualShops() {
	}

	/**
	 * An interface with nothing behind its proxy, as clients have.
	 */
	@Configuration(proxyBeanMethods = false)
	static class NoTarget {

		@Bean
		ProxiedShops.Annotated client(Work work) {
			return ProxyFactory.getProxy(ProxiedShops.Annotated.class, (MethodInterceptor) (call) -> work
				.run((Shop.Order) Objects.requireNonNull(call.getArguments()[0])));
		}

	}

	interface PlainClient extends Shop {

		@Override
		@Idempotent(key = "#order.id", name = "plain-client.order")
		Receipt order(Order order);

		@Override
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "plain-client.book")
		Receipt book(Order order);

	}

	@Configuration(proxyBeanMethods = false)
	static class PlainNoTarget {

		@Bean
		PlainClient client(Work work) {
			return ProxyFactory.getProxy(PlainClient.class, (MethodInterceptor) (call) -> work
				.run((Shop.Order) Objects.requireNonNull(call.getArguments()[0])));
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@Idempotent(retention = "1h")
	@interface Once {

		@AliasFor(annotation = Idempotent.class)
		String name();

		@AliasFor(annotation = Idempotent.class)
		String key();

		@AliasFor(annotation = Idempotent.class)
		Guarantee guarantee() default Guarantee.DEFAULT;

	}

	static class Composed implements Shop {

		private final Work work;

		Composed(Work work) {
			this.work = work;
		}

		@Override
		@Transactional
		@Once(key = "#order.id", name = "composed.order")
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		@Transactional
		@Once(key = "#order.id", name = "composed.book", guarantee = Guarantee.TRANSACTION)
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

}
