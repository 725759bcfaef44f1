package dev.idempotent.idempotency.web.matrix;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.WebAsyncTask;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Work that continues after its request has timed out keeps its key until it ends.
 */
class TimedOutHandlersIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(TimedOutApplication.class, container, "spring.mvc.async.request-timeout=300ms",
				"server.shutdown=immediate");
	}

	@BeforeEach
	void closeGate() {
		application.bean(Handlers.class).closeGate();
	}

	@AfterEach
	void openGate() {
		application.bean(Handlers.class).openGate();
	}

	@ParameterizedTest
	@ValueSource(strings = { "callable", "task", "future", "servlet-async" })
	void neverRunsTwiceAndAnswersARetryOnceItIsDone(String handler) {
		int before = runs();
		assertThat(answer(handler).status()).isIn(500, 503);
		assertThat(answer(handler).body()).contains("in-progress");
		assertThat(runs() - before).isOne();
		application.bean(Handlers.class).openGate();
		await().until(() -> !answer(handler).body().contains("in-progress"));
		assertThat(answer(handler).body()).contains("response-not-kept");
		assertThat(runs() - before).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "callable-that-fails", "future-that-fails", "future-without-success" })
	void runsAgainOnceItHasFailed(String handler) {
		int before = runs();
		assertThat(answer(handler).status()).isEqualTo(503);
		assertThat(answer(handler).body()).contains("in-progress");
		assertThat(runs() - before).isOne();
		application.bean(Handlers.class).openGate();
		await().until(() -> !answer(handler).body().contains("in-progress"));
		assertThat(runs() - before).isEqualTo(2);
	}

	private static int runs() {
		return application.bean(Handlers.class).runs();
	}

	private Answer answer(String handler) {
		return Answer.of(post("/timed-out/" + handler));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class TimedOutApplication {

	}

	/**
	 * Handlers whose work takes longer than their requests, and ignores interrupts.
	 */
	@RestController
	static class Handlers {

		private static final long SHORT = 300;

		private final AtomicInteger runs = new AtomicInteger();

		private volatile Semaphore gate = new Semaphore(0);

		private final AsyncTaskExecutor executor;

		Handlers(AsyncTaskExecutor executor) {
			this.executor = executor;
		}

		int runs() {
			return this.runs.get();
		}

		/**
		 * Blocks all work that starts from now on.
		 */
		void closeGate() {
			this.gate = new Semaphore(0);
		}

		@EventListener(ContextClosedEvent.class)
		void openGate() {
			this.gate.release(1_000);
		}

		@PostMapping("/timed-out/callable")
		@Idempotent
		Callable<String> callable() {
			return this::work;
		}

		@PostMapping("/timed-out/task")
		@Idempotent
		WebAsyncTask<String> task() {
			return new WebAsyncTask<>(SHORT, this::work);
		}

		@PostMapping("/timed-out/future")
		@Idempotent
		CompletableFuture<String> future() {
			return CompletableFuture.supplyAsync(this::work, this.executor);
		}

		@PostMapping("/timed-out/servlet-async")
		@Idempotent
		void servletAsync(HttpServletRequest request) {
			AsyncContext context = request.startAsync();
			context.setTimeout(SHORT);
			this.executor.execute(() -> {
				work();
				try {
					context.complete();
				}
				catch (IllegalStateException ex) {
					// The status that containers send after a time-out.
				}
			});
		}

		@PostMapping("/timed-out/callable-that-fails")
		@Idempotent
		Callable<String> failingCallable() {
			return this::fail;
		}

		@PostMapping("/timed-out/future-that-fails")
		@Idempotent
		CompletableFuture<String> failingFuture() {
			return CompletableFuture.supplyAsync(this::fail, this.executor);
		}

		@PostMapping("/timed-out/future-without-success")
		@Idempotent
		CompletableFuture<ResponseEntity<String>> futureWithoutSuccess() {
			return CompletableFuture.supplyAsync(() -> ResponseEntity.status(503).body(work()), this.executor);
		}

		private String work() {
			this.runs.incrementAndGet();
			this.gate.acquireUninterruptibly();
			return "done";
		}

		private String fail() {
			work();
			throw new IllegalStateException("The work has failed");
		}

	}

}
