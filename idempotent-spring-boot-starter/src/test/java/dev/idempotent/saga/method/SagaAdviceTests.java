package dev.idempotent.saga.method;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import org.aopalliance.intercept.MethodInterceptor;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for what surrounds the body of a saga, in the thread of its caller and in a
 * worker.
 */
class SagaAdviceTests {

	private static final List<String> entries = new CopyOnWriteArrayList<>();

	@AfterEach
	void reset() {
		entries.clear();
		SecurityContextHolder.clearContext();
		SecurityContextHolder.setStrategyName(SecurityContextHolder.MODE_THREADLOCAL);
		RequestContextHolder.resetRequestAttributes();
	}

	/**
	 * The strategy decides what a deferred context is.
	 */
	@ParameterizedTest
	@ValueSource(strings = { SecurityContextHolder.MODE_THREADLOCAL, SecurityContextHolder.MODE_GLOBAL })
	void runsTheBodyWithoutPrincipalAndRequest(String mode) {
		SecurityContextHolder.setStrategyName(mode);
		SagaApplication.with(Reporter.class).run((context) -> {
			Authentication caller = new TestingAuthenticationToken("caller", "secret");
			SecurityContextHolder.getContext().setAuthentication(caller);
			ServletRequestAttributes request = new ServletRequestAttributes(new MockHttpServletRequest());
			RequestContextHolder.setRequestAttributes(request);
			assertThat(context.getBean(Reporter.class).report("1")).isEqualTo("null null");
			assertThat(SecurityContextHolder.getContext().getAuthentication()).isSameAs(caller);
			assertThat(RequestContextHolder.getRequestAttributes()).isSameAs(request);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { ByClass.class, TwiceProxied.class })
	void entersOnlyTheAdviceInsideItsOwn(Class<?> beans) {
		SagaApplication.with(InnerAdvice.class, beans)
			.run((context) -> assertEntries(context, List.of("outer", "inner", "body")));
	}

	@Test
	void entersTheAdviceOfAProxyByInterface() {
		SagaApplication.with(InnerAdvice.class, ByInterface.class)
			.run((context) -> assertEntries(context, List.of("inner", "body")));
	}

	private static void assertEntries(ApplicationContext context, List<String> expected) {
		Greeting greeting = context.getBean(Greeting.class);
		assertThat(greeting.greet("1", "Ada")).isEqualTo("Ada!");
		assertThat(entries).containsExactlyElementsOf(expected);
		entries.clear();
		context.getBean(Sagas.class).start(() -> greeting.greet("2", "Ada"));
		await().untilAsserted(() -> assertThat(entries).containsExactlyElementsOf(expected));
	}

	interface Greeting {

		String greet(String id, String name);

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Traced {

	}

	static class Greeter implements Greeting {

		private final SagaSteps saga;

		Greeter(SagaSteps saga) {
			this.saga = saga;
		}

		@Override
		@Traced
		@Saga(key = "#id", name = "Greeter.greet")
		public String greet(String id, String name) {
			entries.add("body");
			return this.saga.step("greet", String.class).run(() -> name + "!");
		}

	}

	static class Reporter {

		private final SagaSteps saga;

		Reporter(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#id", name = "Reporter.report")
		public String report(String id) {
			return this.saga.step("report", String.class)
				.run(() -> SecurityContextHolder.getContext().getAuthentication() + " "
						+ RequestContextHolder.getRequestAttributes());
		}

	}

	@Aspect
	static class OuterAspect {

		@Around("execution(* dev.idempotent.saga.method.SagaAdviceTests.Greeter.greet(..))")
		Object trace(ProceedingJoinPoint call) throws Throwable {
			entries.add("outer");
			return call.proceed();
		}

	}

	/**
	 * Advises after this library does, and so inside.
	 */
	@Configuration(proxyBeanMethods = false)
	static class InnerAdvice {

		@Bean
		OuterAspect outerAspect() {
			return new OuterAspect();
		}

		@Bean
		static BeanPostProcessor innerAdvice() {
			return new InnermostPostProcessor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ByClass {

		@Bean
		Greeter greeter(SagaSteps saga) {
			return new Greeter(saga);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ByInterface {

		@Bean
		Greeting greeter(SagaSteps saga) {
			ProxyFactory proxy = new ProxyFactory(new Greeter(saga));
			return (Greeting) proxy.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwiceProxied {

		@Bean
		Greeter greeter(SagaSteps saga) {
			ProxyFactory proxy = new ProxyFactory(new Greeter(saga));
			proxy.setProxyTargetClass(true);
			return (Greeter) proxy.getProxy();
		}

		/**
		 * Wraps the proxy with the advice of this library in another one.
		 */
		@Bean
		static BeanPostProcessor wrapping() {
			return new WrappingPostProcessor();
		}

	}

	private static final class InnermostPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

		InnermostPostProcessor() {
			this.advisor = new DefaultPointcutAdvisor(AnnotationMatchingPointcut.forMethodAnnotation(Traced.class),
					(MethodInterceptor) (call) -> {
						entries.add("inner");
						return call.proceed();
					});
			setOrder(Ordered.LOWEST_PRECEDENCE);
		}

	}

	private static final class WrappingPostProcessor implements BeanPostProcessor, Ordered {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Greeting)) {
				return bean;
			}
			ProxyFactory proxy = new ProxyFactory(bean);
			proxy.setProxyTargetClass(true);
			return proxy.getProxy();
		}

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

	}

}
