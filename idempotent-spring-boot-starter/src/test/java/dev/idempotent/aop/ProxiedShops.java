package dev.idempotent.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Objects;

import dev.idempotent.aop.PlacementApplication.Shop;
import dev.idempotent.aop.PlacementApplication.Work;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.annotation.Validated;

/**
 * Shops with annotations in different places, and with other advice.
 */
final class ProxiedShops {

	private ProxiedShops() {
	}

	static class Transactions implements Shop {

		private final Work work;

		Transactions(Work work) {
			this.work = work;
		}

		@Override
		@Transactional
		@Idempotent(key = "#order.id", name = "transactions.order")
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "transactions.book")
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

	static class Plain implements Shop {

		private final Work work;

		Plain(Work work) {
			this.work = work;
		}

		@Override
		@Idempotent(key = "#order.id", name = "plain.order")
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "plain.book")
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

	interface Annotated extends Shop {

		@Override
		@Transactional
		@Idempotent(key = "#order.id", name = "annotated.order")
		Receipt order(Order order);

		@Override
		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "annotated.book")
		Receipt book(Order order);

	}

	static class ByInterface implements Annotated {

		private final Work work;

		ByInterface(Work work) {
			this.work = work;
		}

		@Override
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

	interface Defaults extends Shop {

		Work work();

		@Override
		@Transactional
		@Idempotent(key = "#order.id", name = "defaults.order")
		default Receipt order(Order order) {
			return work().run(order);
		}

		@Override
		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "defaults.book")
		default Receipt book(Order order) {
			return work().run(order);
		}

	}

	static class ByDefaultMethod implements Defaults {

		private final Work work;

		ByDefaultMethod(Work work) {
			this.work = work;
		}

		@Override
		public Work work() {
			return this.work;
		}

	}

	/**
	 * Its records come back as records, though the method that is called declares neither
	 * them nor their type.
	 */
	abstract static class Generic<C, R> {

		@Transactional
		@Idempotent(key = "#command.id", name = "generic.order")
		public R order(C command) {
			return handle(command);
		}

		@Transactional
		@Idempotent(key = "#command.id", guarantee = Guarantee.TRANSACTION, name = "generic.book")
		public R book(C command) {
			return handle(command);
		}

		abstract R handle(C command);

	}

	static class Inherited extends Generic<Shop.Order, Shop.Receipt> implements Shop {

		private final Work work;

		Inherited(Work work) {
			this.work = work;
		}

		@Override
		Receipt handle(Order command) {
			return this.work.run(command);
		}

	}

	interface Handler<C, R> {

		R handle(C command);

		R post(C command);

	}

	static class GenericInterface implements Handler<Shop.Order, Shop.Receipt> {

		private final Work work;

		GenericInterface(Work work) {
			this.work = work;
		}

		@Override
		@Transactional
		@Idempotent(key = "#command.id", name = "generic-interface.handle")
		public Shop.Receipt handle(Shop.Order command) {
			return this.work.run(command);
		}

		@Override
		@Transactional
		@Idempotent(key = "#command.id", guarantee = Guarantee.TRANSACTION, name = "generic-interface.post")
		public Shop.Receipt post(Shop.Order command) {
			return this.work.run(command);
		}

	}

	@Validated
	static class Validation extends Transactions {

		Validation(Work work) {
			super(work);
		}

	}

	static class PackagePrivate {

		private final Work work;

		PackagePrivate(Work work) {
			this.work = work;
		}

		@Transactional
		@Idempotent(key = "#order.id", name = "package-private.order")
		Shop.Receipt order(Shop.Order order) {
			return this.work.run(order);
		}

		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "package-private.book")
		protected Shop.Receipt book(Shop.Order order) {
			return this.work.run(order);
		}

	}

	/**
	 * Shops without a class, and with an annotation of their own.
	 */
	static final class UnusualShops {

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

}
