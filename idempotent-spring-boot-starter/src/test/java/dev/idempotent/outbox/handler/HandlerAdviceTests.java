package dev.idempotent.outbox.handler;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxHandler;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Advice of an application around its handlers.
 */
class HandlerAdviceTests {

	private static final List<String> H2 = List.of("spring.datasource.generate-unique-name=false",
			"spring.datasource.url=jdbc:h2:mem:advised-handlers;DB_CLOSE_DELAY=-1");

	private HandlerShop shop;

	private Advised handlers;

	@BeforeEach
	void open() {
		this.shop = HandlerShop.open(H2, HandlerShop.OFTEN, List.of(Methods.class, Advised.class, Around.class),
				"idempotent.outbox.handlers.attempts=2", "idempotent.initialize-schema=always");
		this.handlers = this.shop.bean(Advised.class);
	}

	@AfterEach
	void close() {
		this.shop.forgetAll();
		this.shop.close();
	}

	@Test
	void doesNotCommitTwoCallsOfOneTransaction() {
		Around.advice = (call) -> {
			try {
				return ((ProxyMethodInvocation) call).invocableClone().proceed();
			}
			catch (IllegalStateException ex) {
				return call.proceed();
			}
		};
		handle("once");
		assertThat(this.handlers.calls()).hasValue(2);
		assertThat(this.shop.work("once")).containsExactly("2");
		assertThat(this.shop.dead()).isEmpty();
	}

	@Test
	void doesNotCommitWhatHasFailed() {
		Around.advice = (call) -> {
			try {
				return call.proceed();
			}
			catch (IllegalStateException ex) {
				return null;
			}
		};
		handle("once");
		assertThat(this.shop.work("once")).containsExactly("2");
		assertThat(this.shop.dead()).isEmpty();
	}

	@Test
	void doesNotRemoveAnEventThatWasNotHandled() {
		Around.advice = (call) -> null;
		handle("once");
		handle("often");
		assertThat(this.handlers.calls()).hasValue(0);
		assertThat(this.shop.dead()).hasSize(2)
			.allSatisfy((dead) -> assertThat(dead).containsEntry("last_error",
					"Other advice of the handler has not called it"));
	}

	@Test
	void doesNotRemoveAnEventWhoseIdempotentHandlerWasNeitherCalledNorReplayed() {
		Around.advice = (call) -> null;
		handle("known");
		assertThat(this.shop.dead()).singleElement()
			.satisfies((dead) -> assertThat(dead).containsEntry("last_error",
					"Other advice of the handler has not called it"));
		Around.advice = MethodInvocation::proceed;
		handle("known");
		handle("known");
		assertThat(this.handlers.calls()).hasValue(1);
		assertThat(this.shop.work("known")).containsExactly("once");
		assertThat(this.shop.dead()).hasSize(1);
	}

	@Test
	void doesNotCallAHandlerOutsideOfItsTransaction() {
		Around.advice = (call) -> {
			try (var threads = new Threads()) {
				return threads.submit(() -> proceed(call)).get();
			}
		};
		handle("once");
		assertThat(this.handlers.calls()).hasValue(0);
		assertThat(this.shop.work("once")).isEmpty();
		assertThat(this.shop.dead()).hasSize(1);
	}

	@Test
	void repeatsACallWithoutATransactionAsOftenAsItIsTold() {
		Around.advice = (call) -> {
			try {
				return ((ProxyMethodInvocation) call).invocableClone().proceed();
			}
			catch (IllegalStateException ex) {
				return call.proceed();
			}
		};
		handle("often");
		assertThat(this.handlers.calls()).hasValue(2);
		assertThat(this.shop.work("often")).containsExactly("1", "2");
		assertThat(this.shop.dead()).isEmpty();
	}

	private void handle(String type) {
		this.shop.append(HandlerShop.event(type, "1"));
		await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
	}

	private static @Nullable Object proceed(MethodInvocation call) throws Exception {
		try {
			return call.proceed();
		}
		catch (Exception ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class Threads implements AutoCloseable {

		private final ExecutorService executor = Executors.newSingleThreadExecutor();

		<T> Future<T> submit(Callable<T> work) {
			return this.executor.submit(work);
		}

		@Override
		public void close() {
			this.executor.shutdown();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportMethods
	static class Methods {

	}

	/**
	 * Its first call fails after its work.
	 */
	static class Advised {

		private final JdbcTemplate jdbc;

		private final AtomicInteger calls = new AtomicInteger();

		Advised(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "once", name = "once")
		public void once() {
			work("once");
		}

		@OutboxHandler(type = "often", name = "often", transactional = false)
		public void often() {
			work("often");
		}

		@Idempotent(key = "#order.id", guarantee = Guarantee.LEASE, name = "advised.known")
		@OutboxHandler(type = "known", name = "known")
		public void known(HandlerShop.Order order) {
			this.calls.incrementAndGet();
			this.jdbc.update("insert into handler_work values ('known', 'once')");
		}

		private void work(String handler) {
			int call = this.calls.incrementAndGet();
			this.jdbc.update("insert into handler_work values (?, ?)", handler, call);
			if (call == 1) {
				throw new IllegalStateException("not yet");
			}
		}

		public AtomicInteger calls() {
			return this.calls;
		}

	}

	/**
	 * Advises the handlers as the application does.
	 */
	static final class Around implements BeanPostProcessor {

		private static volatile MethodInterceptor advice = MethodInvocation::proceed;

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Advised)) {
				return bean;
			}
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			factory.addAdvice((MethodInterceptor) (call) -> call.getMethod().getName().equals("calls") ? call.proceed()
					: advice.invoke(call));
			return factory.getProxy();
		}

	}

}
