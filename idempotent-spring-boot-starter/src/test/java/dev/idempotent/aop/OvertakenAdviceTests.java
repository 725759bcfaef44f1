package dev.idempotent.aop;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.Effects;
import dev.idempotent.idempotency.method.MethodApplication;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Advice of the application that has come inside the advice of
 * {@code Guarantee.TRANSACTION}: a failure that it hides commits nothing.
 */
class OvertakenAdviceTests {

	private static final MethodInterceptor FALLBACK = (call) -> {
		try {
			return call.proceed();
		}
		catch (IllegalStateException ex) {
			return "fallback";
		}
	};

	@ParameterizedTest
	@ValueSource(classes = { LaterAdvice.class, ProxyInAProxy.class })
	void stopsTheStart(Class<?> application) {
		MethodApplication.with(application)
			.run((context) -> assertThat(context.getStartupFailure())
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("has advice of the application inside that of its annotation"));
	}

	@Test
	void refusesTheCallIfTheTargetIsKnownThen() {
		MethodApplication.with(SwappedProxy.class).run((context) -> {
			Till till = context.getBean(Till.class);
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> till.book("1"))
				.withMessageContaining("has advice of the application inside that of its annotation");
			assertThat(context.getBean(Effects.class).runs()).isZero();
		});
	}

	@Test
	void mayBeInsideThatOfALease() {
		MethodApplication.with(SwappedProxy.class)
			.run((context) -> assertThat(context.getBean(Till.class).bookUnderLease("1")).isEqualTo("fallback"));
	}

	interface Till {

		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "till.book")
		String book(String id);

		@Idempotent(key = "#id", name = "till.book-under-lease")
		String bookUnderLease(String id);

	}

	static class FailingTill implements Till {

		private final Effects effects;

		FailingTill(Effects effects) {
			this.effects = effects;
		}

		@Override
		public String book(String id) {
			this.effects.add(id);
			throw new IllegalStateException("Half of the work is done");
		}

		@Override
		public String bookUnderLease(String id) {
			return book(id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LaterAdvice {

		@Bean
		Till till(Effects effects) {
			return new FailingTill(effects);
		}

		@Bean
		static BeanPostProcessor fallbacks() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					if (bean instanceof Till && bean instanceof Advised advised) {
						advised.addAdvice(FALLBACK);
					}
					return bean;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProxyInAProxy {

		@Bean
		Till till(Effects effects) {
			return proxyOf(new SingletonTargetSource(advised(effects)));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SwappedProxy {

		@Bean
		Till till(Effects effects) {
			return proxyOf(new HotSwappableTargetSource(advised(effects)));
		}

	}

	private static Till advised(Effects effects) {
		ProxyFactory proxy = new ProxyFactory(new FailingTill(effects));
		proxy.addAdvice(FALLBACK);
		return (Till) proxy.getProxy();
	}

	private static Till proxyOf(TargetSource target) {
		return ProxyFactory.getProxy(Till.class, target);
	}

}
