package dev.idempotent.aop;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.aop.PlacementApplication.Outside;
import dev.idempotent.aop.PlacementApplication.ProbedStore;
import dev.idempotent.aop.PlacementApplication.Shop;
import dev.idempotent.aop.PlacementApplication.Shop.Order;
import dev.idempotent.aop.PlacementApplication.Shop.Receipt;
import dev.idempotent.aop.PlacementApplication.Work;
import dev.idempotent.aop.ProxiedShops.UnusualShops;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.Effects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Advice has its place on every kind of bean, among any other advice.
 */
class PlacementTests {

	private static final String BY_INTERFACE = "spring.aop.proxy-target-class=false";

	static Stream<Row> rows() {
		return Stream.of(proxies(), applications(), beans()).flatMap(Function.identity());
	}

	private static Stream<Row> proxies() {
		return Stream.of(Row.of("class proxy", ProxiedShops.Transactions.class),
				Row.of("interface proxy", ProxiedShops.Transactions.class)
					.with(BY_INTERFACE)
					.reachedBy(PlacementTests::interfaceProxy),
				Row.of("class proxy, annotated interface", ProxiedShops.ByInterface.class),
				Row.of("interface proxy, annotated interface", ProxiedShops.ByInterface.class)
					.with(BY_INTERFACE)
					.reachedBy(PlacementTests::interfaceProxy),
				Row.of("class proxy, default method", ProxiedShops.ByDefaultMethod.class),
				Row.of("interface proxy, default method", ProxiedShops.ByDefaultMethod.class)
					.with(BY_INTERFACE)
					.reachedBy(PlacementTests::interfaceProxy),
				Row.of("interface proxy, generic interface", ProxiedShops.GenericInterface.class)
					.with(BY_INTERFACE)
					.reachedBy(PlacementTests::handler),
				Row.of("no other advice", ProxiedShops.Plain.class).withoutTransactions(),
				Row.of("no other advice, interface proxy", ProxiedShops.Plain.class)
					.with(BY_INTERFACE)
					.reachedBy(PlacementTests::interfaceProxy)
					.withoutTransactions(),
				Row.of("no other advice, @Proxyable", WiredShops.Proxied.class)
					.reachedBy(PlacementTests::interfaceProxy)
					.withoutTransactions(),
				Row.of("generic superclass", ProxiedShops.Inherited.class),
				Row.of("package-private and protected methods", ProxiedShops.PackagePrivate.class)
					.reachedBy(PlacementTests::packagePrivate),
				Row.of("proxy without target", UnusualShops.NoTarget.class),
				Row.of("proxy without target, no other advice", UnusualShops.PlainNoTarget.class).withoutTransactions(),
				Row.of("composed annotation", UnusualShops.Composed.class));
	}

	private static Stream<Row> applications() {
		Class<?> shop = ProxiedShops.Transactions.class;
		return Stream.of(
				Row.of("@EnableTransactionManagement(order = 0)", shop, AdvisedApplications.EarlyTransactions.class),
				Row.of("@EnableTransactionManagement(order = HIGHEST_PRECEDENCE)", shop,
						AdvisedApplications.FirstTransactions.class),
				Row.of("aspects around and inside", shop, AdvisedApplications.OuterAspect.class,
						AdvisedApplications.InnerAspect.class),
				Row.of("aspect, transaction outside", shop, AdvisedApplications.InnerAspect.class,
						AdvisedApplications.EarlyTransactions.class),
				Row.of("method validation", ProxiedShops.Validation.class, ValidationAutoConfiguration.class));
	}

	private static Stream<Row> beans() {
		return Stream.of(
				Row.of("self-injected", WiredShops.SelfInjected.class)
					.reachedBy((context) -> context.getBean(WiredShops.SelfInjected.class).throughItself()),
				Row.of("self-injected, no other advice", WiredShops.SelfInjectedPlain.class)
					.reachedBy((context) -> context.getBean(WiredShops.SelfInjectedPlain.class).throughItself())
					.withoutTransactions(),
				Row.of("circle", WiredShops.Circular.class, WiredShops.Counter.class)
					.reachedBy((context) -> context.getBean(WiredShops.Circular.class).counter().shop()),
				Row.of("circle, the other way round", WiredShops.Counter.class, WiredShops.Circular.class)
					.reachedBy((context) -> context.getBean(WiredShops.Counter.class).shop()),
				Row.of("@Configuration", WiredShops.OwnMethods.class), Row.of("prototype", WiredShops.Prototype.class),
				Row.of("@Lazy", WiredShops.LateComer.class), Row.of("scoped proxy", WiredShops.Scoped.class),
				Row.of("product of a FactoryBean", WiredShops.Factory.class),
				Row.of("product of a FactoryBean, no other advice", WiredShops.PlainFactory.class)
					.withoutTransactions(),
				Row.of("one bean by two names, no other advice", WiredShops.PlainTwice.class)
					.reachedBy((context) -> context.getBean("second", Shop.class))
					.withoutTransactions());
	}

	@ParameterizedTest
	@MethodSource("rows")
	void aLeaseIsClaimedBeforeTheTransactionAndCompletedAfterTheCommit(Row row) {
		run(row, (context) -> {
			runsOncePerKey(context, row, Guarantee.LEASE);
			assertThat(context.getBean(ProbedStore.class).completions()).containsExactly(List.of("1"));
			assertThat(context.getBean(Outside.class).records()).isZero();
			Work.Seen seen = context.getBean(Work.class).seen().get(0);
			assertThat(seen.transaction()).isEqualTo(row.transactional());
			leavesTheKeyOfAFailure(context, row, Guarantee.LEASE);
			assertThat(context.getBean(Outside.class).effects()).hasSize(row.transactional() ? 1 : 3);
			assertThat(context.getBean(ProbedStore.class).claimsInTransaction()).isZero();
		});
	}

	@ParameterizedTest
	@MethodSource("rows")
	void aRecordCommitsWithTheWork(Row row) {
		run(row, (context) -> {
			runsOncePerKey(context, row, Guarantee.TRANSACTION);
			Work.Seen seen = context.getBean(Work.class).seen().get(0);
			assertThat(seen.transaction()).isTrue();
			assertThat(seen.records()).isOne();
			assertThat(seen.committedRecords()).isZero();
			assertThat(context.getBean(Outside.class).records()).isOne();
			assertThat(context.getBean(ProbedStore.class).claimsInTransaction()).isEqualTo(row.transactional() ? 2 : 0);
			leavesTheKeyOfAFailure(context, row, Guarantee.TRANSACTION);
			assertThat(context.getBean(Outside.class).effects()).containsExactly("1");
			assertThat(context.getBean(Outside.class).records()).isOne();
		});
	}

	/**
	 * Its second proxy brings a transaction of its own, before it gets to the advice.
	 */
	@ParameterizedTest
	@EnumSource(names = { "LEASE", "TRANSACTION" })
	void oneBeanByTwoNamesIsAdvisedOnce(Guarantee guarantee) {
		Row row = Row.of("one bean by two names", WiredShops.Twice.class)
			.reachedBy((context) -> context.getBean("second", Shop.class));
		run(row, (context) -> {
			runsOncePerKey(context, row, guarantee);
			assertThat(context.getBean(ProbedStore.class).completions()).containsExactly(List.of("1"));
			leavesTheKeyOfAFailure(context, row, guarantee);
			assertThat(context.getBean(Outside.class).effects()).containsExactly("1");
		});
	}

	private static void runsOncePerKey(ApplicationContext context, Row row, Guarantee guarantee) {
		Shop shop = row.shop().apply(context);
		Receipt first = Shop.call(shop, guarantee, new Order("1"));
		assertThat(Shop.call(shop, guarantee, new Order("1"))).isEqualTo(first).isInstanceOf(Receipt.class);
		assertThat(context.getBean(Effects.class).runs()).isOne();
		assertThat(context.getBean(Outside.class).effects()).containsExactly("1");
		if (row.transactional()) {
			assertThat(context.getBean(Work.class).seen().get(0).name()).startsWith("dev.idempotent.aop.");
		}
	}

	private static void leavesTheKeyOfAFailure(ApplicationContext context, Row row, Guarantee guarantee) {
		Shop shop = row.shop().apply(context);
		for (int i = 0; i < 2; i++) {
			assertThatIllegalStateException().isThrownBy(() -> Shop.call(shop, guarantee, new Order("bad")));
		}
		assertThat(context.getBean(Effects.class).runs()).isEqualTo(3);
		assertThat(context.getBean(ProbedStore.class).releases()).hasSize(2);
	}

	private static void run(Row row, Consumer<AssertableApplicationContext> test) {
		row.application().run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	private static Shop interfaceProxy(ApplicationContext context) {
		Shop shop = context.getBean(Shop.class);
		assertThat(AopUtils.isJdkDynamicProxy(shop)).isTrue();
		return shop;
	}

	@SuppressWarnings("unchecked")
	private static Shop handler(ApplicationContext context) {
		ProxiedShops.Handler<Order, Receipt> handler = context.getBean(ProxiedShops.Handler.class);
		assertThat(AopUtils.isJdkDynamicProxy(handler)).isTrue();
		return shop(handler::handle, handler::post);
	}

	private static Shop packagePrivate(ApplicationContext context) {
		ProxiedShops.PackagePrivate bean = context.getBean(ProxiedShops.PackagePrivate.class);
		return shop(bean::order, bean::book);
	}

	private static Shop shop(Function<Order, Receipt> order, Function<Order, Receipt> book) {
		return new Shop() {

			@Override
			public Receipt order(Order what) {
				return order.apply(what);
			}

			@Override
			public Receipt book(Order what) {
				return book.apply(what);
			}

		};
	}

	/**
	 * A kind of bean in a kind of application.
	 *
	 * @param name what a reader calls it
	 * @param configurations the bean, and what else the application has
	 * @param properties the properties of the application
	 * @param shop finds the bean
	 * @param transactional whether its methods are {@code @Transactional} themselves
	 */
	record Row(String name, List<Class<?>> configurations, List<String> properties,
			Function<ApplicationContext, Shop> shop, boolean transactional) {

		static Row of(String name, Class<?>... configurations) {
			return new Row(name, List.of(configurations), List.of(), (context) -> context.getBean(Shop.class), true);
		}

		Row with(String... set) {
			return new Row(this.name, this.configurations, List.of(set), this.shop, this.transactional);
		}

		Row reachedBy(Function<ApplicationContext, Shop> found) {
			return new Row(this.name, this.configurations, this.properties, found, this.transactional);
		}

		Row withoutTransactions() {
			return new Row(this.name, this.configurations, this.properties, this.shop, false);
		}

		ApplicationContextRunner application() {
			return PlacementApplication.with(this.configurations.toArray(Class<?>[]::new))
				.withPropertyValues(this.properties.toArray(String[]::new));
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

	/**
	 * Shops that are created and injected in different ways.
	 */
	static final class WiredShops {

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

}
