package dev.idempotent.aop;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
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

}
