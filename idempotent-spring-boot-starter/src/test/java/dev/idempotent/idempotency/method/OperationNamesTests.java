package dev.idempotent.idempotency.method;

import java.util.Objects;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

/**
 * The names of operations, which are part of their keys.
 */
class OperationNamesTests {

	private static final String TRANSFER = Gateway.class.getName() + ".transfer(java.lang.String)";

	@Test
	void areRequiredOfMethods() {
		MethodApplication.with(OrderService.class)
			.run((context) -> failure(context)
				.hasMessage("The @Idempotent method " + OrderService.class.getName()
						+ ".placeOrder(java.lang.String) has no name.")
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.startsWith("Set a name that never changes, such as name = \"order-service.place-order\": "));
	}

	@Test
	void refuseTwoBeansOfOneClass() {
		MethodApplication.with(TwoBanks.class).run((context) -> {
			// Without the refusal, the second bank answered with the first one's result.
			assertThat(context).as("The answers are " + answers(context)).hasFailed();
			failure(context)
				.hasMessage("The @Idempotent method " + TRANSFER + " of the bean 'savings' has the name 'transfer', as "
						+ "has " + TRANSFER + " of the bean 'giro': a call of one would be answered with the result of "
						+ "the other.")
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.contains("in a subclass that overrides and annotates it", "IdempotencyTemplate.execute");
		});
	}

	@Test
	void refuseTwoMethods() {
		MethodApplication.with(Twins.class)
			.run((context) -> failure(context).hasMessageContainingAll("Twins.one(java.lang.String)",
					"Twins.other(java.lang.String)", "has the name 'twin'"));
	}

	@Test
	void refuseASecondBeanThatIsLazyOrAPrototype() {
		MethodApplication.with(LazyBank.class).run((context) -> failure(context).hasMessageContaining(TRANSFER));
		MethodApplication.with(PrototypeBank.class).run((context) -> failure(context).hasMessageContaining(TRANSFER));
	}

	/**
	 * Whose class is not known before they are created.
	 */
	@Test
	void refuseASecondBeanThatIsCreatedAfterTheStart() {
		MethodApplication.with(BanksByInterface.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean("giro", Transfers.class).transfer("1")).isEqualTo("giro: 1");
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean("savings"))
				.havingRootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.withMessageContainingAll("'savings'", "'giro'");
		});
	}

	/**
	 * Under another guarantee, another advisor advises the bean.
	 */
	@Test
	void refuseALateBeanUnderAnotherGuarantee() {
		MethodApplication.with(BanksOfTwoGuarantees.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean("giro", Transfers.class).transfer("1")).isEqualTo("giro: 1");
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean("savings"))
				.havingRootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.withMessageContainingAll("'savings'", "'giro'");
		});
	}

	@Test
	void refuseASecondBeanBehindAnInterface() {
		MethodApplication.with(Interfaces.class)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> failure(context)
				.hasMessageContainingAll(Account.class.getName() + ".book(java.lang.String)", "'first'", "'second'"));
	}

	@Test
	void allowAMethodOfItsOwnForEachBean() {
		MethodApplication.with(OwnNames.class)
			.run((context) -> assertThat(answers(context)).isEqualTo("giro: t1, savings: t1"));
	}

	@Test
	void allowOneBeanWithSeveralInstancesOrProxiesOrNames() {
		MethodApplication.with(OneBank.class, Scoped.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void allowAMethodThatAnotherOverrides() {
		MethodApplication.with(Savings.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void areComparedWithThoseOfAParent() {
		MethodApplication.with(GiroBank.class)
			.run((parent) -> child(SavingsBank.class).withParent(parent.getSourceApplicationContext())
				.run((context) -> failure(context).hasMessageContainingAll("'savings'", "'giro'")));
	}

	@Test
	void allowABeanThatRepeatsOneOfItsParent() {
		MethodApplication.with(GiroBank.class)
			.run((parent) -> child(GiroBank.class).withParent(parent.getSourceApplicationContext())
				.run((context) -> assertThat(context).hasNotFailed()));
	}

	@Test
	void areComparedAmongTheChildrenOfAParent() {
		MethodApplication.with(Nothing.class).run((parent) -> {
			ApplicationContext root = parent.getSourceApplicationContext();
			child(GiroBank.class).withParent(root)
				.run((giro) -> child(SavingsBank.class).withParent(root)
					.run((context) -> failure(context).hasMessageContainingAll("'savings'", "'giro'")));
		});
	}

	@Test
	void areThoseOfOneNamespace() {
		MethodApplication.with(GiroBank.class)
			.run((parent) -> child(SavingsBank.class).withPropertyValues("idempotent.namespace=bank")
				.withParent(parent.getSourceApplicationContext())
				.run((context) -> assertThat(context).hasNotFailed()));
	}

	/**
	 * As a test does that closes its context, or a configuration that is loaded again.
	 */
	@Test
	void areFreeAgainWhenTheirContextIsClosed() {
		MethodApplication.with(Nothing.class).run((parent) -> {
			ApplicationContext root = parent.getSourceApplicationContext();
			child(GiroBank.class).withParent(root).run((context) -> assertThat(context).hasNotFailed());
			child(TwoBanks.class).withParent(root).run((context) -> assertThat(context).hasFailed());
			child(SavingsBank.class).withParent(root).run((context) -> assertThat(context).hasNotFailed());
		});
	}

	@Test
	void stayThoseOfAParentWhenAChildIsClosedThatRepeatsThem() {
		MethodApplication.with(GiroBank.class).run((parent) -> {
			ApplicationContext root = parent.getSourceApplicationContext();
			child(GiroBank.class).withParent(root).run((context) -> assertThat(context).hasNotFailed());
			child(SavingsBank.class).withParent(root).run((context) -> assertThat(context).hasFailed());
		});
	}

	private static ApplicationContextRunner child(Class<?> configuration) {
		return new ApplicationContextRunner().withPropertyValues("idempotent.namespace=shop")
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, IdempotencyAutoConfiguration.class,
					ImportMethods.CLASS))
			.withUserConfiguration(configuration);
	}

	private static String answers(AssertableApplicationContext context) {
		return (context.getStartupFailure() != null) ? "none" : context.getBean("giro", Gateway.class).transfer("t1")
				+ ", " + context.getBean("savings", Gateway.class).transfer("t1");
	}

	private static AbstractThrowableAssert<?, IdempotentConfigurationException> failure(
			AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		Throwable failure = Objects.requireNonNull(context.getStartupFailure());
		return assertThat(NestedExceptionUtils.getMostSpecificCause(failure))
			.asInstanceOf(throwable(IdempotentConfigurationException.class));
	}

	static class OrderService {

		@Idempotent(key = "#id")
		public String placeOrder(String id) {
			return id;
		}

	}

	static class Twins {

		@Idempotent(key = "#id", name = "twin")
		public String one(String id) {
			return id;
		}

		@Idempotent(key = "#id", name = "twin")
		public String other(String id) {
			return id;
		}

	}

	/**
	 * Transfers money at one bank.
	 */
	static class Gateway {

		private final String bank;

		Gateway(String bank) {
			this.bank = bank;
		}

		@Idempotent(key = "#id", name = "transfer")
		public String transfer(String id) {
			return this.bank + ": " + id;
		}

	}

	static class Savings extends Gateway {

		Savings() {
			super("savings");
		}

		@Override
		@Idempotent(key = "#id", name = "transfer-of-savings")
		public String transfer(String id) {
			return super.transfer(id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class GiroBank {

		@Bean
		Gateway giro() {
			return new Gateway("giro");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SavingsBank {

		@Bean
		Gateway savings() {
			return new Gateway("savings");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ GiroBank.class, SavingsBank.class })
	static class TwoBanks {

	}

	@Configuration(proxyBeanMethods = false)
	@Import(GiroBank.class)
	static class LazyBank {

		@Bean
		@Lazy
		Gateway lazy() {
			return new Gateway("lazy");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(GiroBank.class)
	static class PrototypeBank {

		@Bean
		@Scope("prototype")
		Gateway prototype() {
			return new Gateway("prototype");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(GiroBank.class)
	static class OwnNames {

		@Bean
		Savings savings() {
			return new Savings();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(GiroBank.class)
	static class OneBank {

		/**
		 * The same object.
		 */
		@Bean
		Gateway main(Gateway giro) {
			return giro;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Account account() {
			return new Account();
		}

	}

	interface Booking {

		String book(String id);

	}

	static class Account implements Booking {

		@Override
		@Idempotent(key = "#id", name = "book")
		public String book(String id) {
			return id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Interfaces {

		@Bean
		Booking first() {
			return new Account();
		}

		@Bean
		Booking second() {
			return new Account();
		}

	}

	interface Transfers {

		String transfer(String id);

	}

	static class InterfaceBank implements Transfers {

		private final String bank;

		InterfaceBank(String bank) {
			this.bank = bank;
		}

		@Override
		@Idempotent(key = "#id", name = "transfer-by-interface")
		public String transfer(String id) {
			return this.bank + ": " + id;
		}

	}

	static class SavingsInTransaction implements Transfers {

		@Override
		@Transactional
		@Idempotent(key = "#id", name = "transfer-by-interface", guarantee = Guarantee.TRANSACTION)
		public String transfer(String id) {
			return "savings: " + id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Nothing {

	}

	@Configuration(proxyBeanMethods = false)
	static class BanksOfTwoGuarantees {

		@Bean
		Transfers giro() {
			return new InterfaceBank("giro");
		}

		@Bean
		@Lazy
		Transfers savings() {
			return new SavingsInTransaction();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BanksByInterface {

		@Bean
		@Lazy
		Transfers giro() {
			return new InterfaceBank("giro");
		}

		@Bean
		@Lazy
		Transfers savings() {
			return new InterfaceBank("savings");
		}

	}

}
