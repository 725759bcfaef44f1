package dev.idempotent.idempotency.method;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Beans that are created after the start, behind an interface that tells nothing of their
 * class. Their annotations have an effect, or they are not created.
 */
class LateBeansTests {

	static Stream<Arguments> invalid() {
		return Stream.of(arguments(LazyFinal.class, "FinalBank.transfer", "belongs to a final class"),
				arguments(PrototypeFinal.class, "FinalBank.transfer", "belongs to a final class"),
				arguments(LazyInTransaction.class, "FinalBankInTransaction.transfer", "belongs to a final class"),
				arguments(LazyRecord.class, "RecordBank.transfer", "belongs to a final class"),
				arguments(LazyFinalMethod.class, "FinalMethodBank.transfer", "is final"),
				arguments(LazyFrozen.class, "PlainBank.transfer", "a proxy of the application that is frozen"),
				arguments(LazyOpaque.class, "PlainBank.transfer", "frozen, opaque"));
	}

	@ParameterizedTest
	@MethodSource("invalid")
	void areRefusedIfTheyCannotBeAdvised(Class<?> configuration, String method, String reason) {
		AtomicInteger runs = new AtomicInteger();
		MethodApplication.with(configuration).withBean(AtomicInteger.class, () -> runs).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> twice((Bank) context.getBean("bank")))
				.havingRootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.withMessageContainingAll("@Idempotent", method, reason, "so it cannot be advised")
				.extracting((ex) -> ((IdempotentConfigurationException) ex).getAction())
				.asString()
				.contains("a method of another bean", "IdempotencyTemplate");
			assertThat(runs).hasValue(0);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { LazyPlain.class, LazyOpaqueByClass.class })
	void runOncePerKeyIfTheyCan(Class<?> configuration) {
		AtomicInteger runs = new AtomicInteger();
		MethodApplication.with(configuration).withBean(AtomicInteger.class, () -> runs).run((context) -> {
			twice(context.getBean(Bank.class));
			assertThat(runs).hasValue(1);
		});
	}

	private static void twice(Bank bank) {
		bank.transfer("1");
		bank.transfer("1");
	}

	interface Bank {

		String transfer(String id);

	}

	static final class FinalBank implements Bank {

		private final AtomicInteger runs;

		FinalBank(AtomicInteger runs) {
			this.runs = runs;
		}

		@Override
		@Idempotent(name = "transfer", key = "#id")
		public String transfer(String id) {
			return id + this.runs.incrementAndGet();
		}

	}

	static final class FinalBankInTransaction implements Bank {

		private final AtomicInteger runs;

		FinalBankInTransaction(AtomicInteger runs) {
			this.runs = runs;
		}

		@Override
		@Idempotent(name = "transfer", key = "#id", guarantee = Guarantee.TRANSACTION)
		public String transfer(String id) {
			return id + this.runs.incrementAndGet();
		}

	}

	record RecordBank(AtomicInteger runs) implements Bank {

		@Override
		@Idempotent(name = "transfer", key = "#id")
		public String transfer(String id) {
			return id + this.runs.incrementAndGet();
		}

	}

	static class FinalMethodBank implements Bank {

		private final AtomicInteger runs;

		FinalMethodBank(AtomicInteger runs) {
			this.runs = runs;
		}

		@Override
		@Idempotent(name = "transfer", key = "#id")
		public final String transfer(String id) {
			return id + this.runs.incrementAndGet();
		}

		@Transactional
		public void other() {
		}

	}

	static class PlainBank implements Bank {

		private final AtomicInteger runs;

		PlainBank(AtomicInteger runs) {
			this.runs = runs;
		}

		@Override
		@Idempotent(name = "transfer", key = "#id")
		public String transfer(String id) {
			return id + this.runs.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyFinal {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			return new FinalBank(runs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeFinal {

		@Bean
		@Scope("prototype")
		Bank bank(AtomicInteger runs) {
			return new FinalBank(runs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyInTransaction {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			return new FinalBankInTransaction(runs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyRecord {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			return new RecordBank(runs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyFinalMethod {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			return new FinalMethodBank(runs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyPlain {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			return new PlainBank(runs);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyFrozen {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			ProxyFactory factory = new ProxyFactory(new PlainBank(runs));
			factory.setFrozen(true);
			return (Bank) factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyOpaque {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			ProxyFactory factory = new ProxyFactory(new PlainBank(runs));
			factory.setOpaque(true);
			return (Bank) factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyOpaqueByClass {

		@Bean
		@Lazy
		Bank bank(AtomicInteger runs) {
			ProxyFactory factory = new ProxyFactory(new PlainBank(runs));
			factory.setProxyTargetClass(true);
			factory.setOpaque(true);
			return (Bank) factory.getProxy();
		}

	}

}
