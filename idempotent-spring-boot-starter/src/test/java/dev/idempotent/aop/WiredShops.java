package dev.idempotent.aop;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.transaction.annotation.Transactional;

/**
 * Shops that are created and injected in different ways.
 */
final class WiredShops {

	private WiredShops() {
	}

	/**
	 * Calls itself through its proxy.
	 */
	static class SelfInjected extends ProxiedShops.Transactions {

		@Autowired
		@SuppressWarnings("NullAway.Init")
		private SelfInjected self;

		SelfInjected(Work work) {
			super(work);
		}

		Shop throughItself() {
			return this.self;
		}

	}

	static class SelfInjectedPlain extends ProxiedShops.Plain {

		@Autowired
		@SuppressWarnings("NullAway.Init")
		private SelfInjectedPlain self;

		SelfInjectedPlain(Work work) {
			super(work);
		}

		Shop throughItself() {
			return this.self;
		}

	}

	static class Circular extends ProxiedShops.Transactions {

		@Autowired
		@SuppressWarnings("NullAway.Init")
		private Counter counter;

		Circular(Work work) {
			super(work);
		}

		Counter counter() {
			return this.counter;
		}

	}

	static class Counter {

		@Autowired
		@SuppressWarnings("NullAway.Init")
		private Circular shop;

		Shop shop() {
			return this.shop;
		}

	}

	@Configuration
	static class OwnMethods implements Shop {

		private final Work work;

		OwnMethods(Work work) {
			this.work = work;
		}

		@Override
		@Transactional
		@Idempotent(key = "#order.id", name = "own-methods.order")
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "own-methods.book")
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

	@Scope("prototype")
	static class Prototype extends ProxiedShops.Transactions {

		Prototype(Work work) {
			super(work);
		}

	}

	@Lazy
	static class LateComer extends ProxiedShops.Transactions {

		LateComer(Work work) {
			super(work);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		ProxiedShops.Transactions scoped(Work work) {
			return new ProxiedShops.Transactions(work);
		}

	}

	static class Factory implements FactoryBean<ProxiedShops.Transactions> {

		private final Work work;

		Factory(Work work) {
			this.work = work;
		}

		@Override
		public ProxiedShops.Transactions getObject() {
			return new ProxiedShops.Transactions(this.work);
		}

		@Override
		public Class<?> getObjectType() {
			return ProxiedShops.Transactions.class;
		}

	}

	static class PlainFactory implements FactoryBean<Shop> {

		private final Work work;

		PlainFactory(Work work) {
			this.work = work;
		}

		@Override
		public Shop getObject() {
			return new ProxiedShops.Plain(this.work);
		}

		@Override
		public Class<?> getObjectType() {
			return Shop.class;
		}

	}

	/**
	 * One object by two names.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Twice {

		@Bean
		Shop first(Work work) {
			return new ProxiedShops.Transactions(work);
		}

		@Bean
		Shop second(@Qualifier("first") Shop first) {
			return first;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PlainTwice {

		@Bean
		Shop first(Work work) {
			return new ProxiedShops.Plain(work);
		}

		@Bean
		Shop second(@Qualifier("first") Shop first) {
			return first;
		}

	}

	@Proxyable(ProxyType.INTERFACES)
	static class Proxied extends ProxiedShops.Plain implements Shop {

		Proxied(Work work) {
			super(work);
		}

	}

}
