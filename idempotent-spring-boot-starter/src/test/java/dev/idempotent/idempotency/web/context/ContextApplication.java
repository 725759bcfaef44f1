package dev.idempotent.idempotency.web.context;

import java.io.IOException;
import java.util.EnumSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpStatus;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableAsync
@Import({ ContextApplication.DispatchedHandlers.class, ContextApplication.HandingOverHandlers.class,
		ContextApplication.AsyncNotes.class })
class ContextApplication implements WebMvcConfigurer {

	private final Sightings sightings = new Sightings();

	@Override
	public void addInterceptors(InterceptorRegistry registry) {
		registry.addInterceptor(this.sightings);
	}

	@Bean
	Sightings sightings() {
		return this.sightings;
	}

	/**
	 * The outermost filter, in all dispatches.
	 */
	@Bean
	FilterRegistrationBean<Sightings> sightingsRegistration() {
		FilterRegistrationBean<Sightings> registration = new FilterRegistrationBean<>(this.sightings);
		registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
		registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
		return registration;
	}

	/**
	 * Handlers whose requests are dispatched more than once, or fail.
	 */
	@RestController
	static class DispatchedHandlers {

		private final Sightings sightings;

		private final AsyncTaskExecutor executor;

		DispatchedHandlers(Sightings sightings, AsyncTaskExecutor executor) {
			this.sightings = sightings;
			this.executor = executor;
		}

		@PostMapping("/returns")
		@Idempotent
		String returns() {
			this.sightings.note("handler");
			return "returned";
		}

		@PostMapping("/without-key")
		String withoutKey() {
			this.sightings.note("handler");
			return "returned";
		}

		@PostMapping("/throws")
		@Idempotent
		String throwing() {
			throw new IllegalStateException("The handler went wrong");
		}

		@PostMapping("/status/{status}")
		@Idempotent
		String status(@PathVariable int status) {
			throw new ResponseStatusException(HttpStatus.valueOf(status));
		}

		@PostMapping("/forwards")
		@Idempotent
		void forwards(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
			request.getRequestDispatcher("/without-key").forward(request, response);
			this.sightings.note("after the forward");
		}

		@PostMapping("/deferred")
		@Idempotent
		DeferredResult<String> deferred() {
			DeferredResult<String> result = new DeferredResult<>();
			this.executor.execute(() -> result.setResult("deferred"));
			return result;
		}

		@PostMapping("/deferred-failure")
		@Idempotent
		DeferredResult<String> deferredFailure() {
			DeferredResult<String> result = new DeferredResult<>();
			this.executor.execute(() -> result.setErrorResult(new ResponseStatusException(HttpStatus.NOT_FOUND)));
			return result;
		}

	}

	/**
	 * Handlers that continue their work on another thread.
	 */
	@RestController
	static class HandingOverHandlers {

		private static final String ELSEWHERE = "elsewhere";

		private final Sightings sightings;

		private final AsyncNotes asyncNotes;

		private final AsyncTaskExecutor executor;

		HandingOverHandlers(Sightings sightings, AsyncNotes asyncNotes, AsyncTaskExecutor executor) {
			this.sightings = sightings;
			this.asyncNotes = asyncNotes;
			this.executor = executor;
		}

		@PostMapping("/over/async-method")
		@Idempotent
		String asyncMethod() {
			this.sightings.note("handler");
			this.asyncNotes.note(ELSEWHERE).join();
			return "done";
		}

		@PostMapping("/over/without-key")
		String asyncMethodWithoutKey() {
			this.asyncNotes.note(ELSEWHERE).join();
			return "done";
		}

		@PostMapping("/over/callable")
		@Idempotent
		Callable<String> callable() {
			this.sightings.note("handler");
			return this::noteElsewhere;
		}

		@PostMapping("/over/future")
		@Idempotent
		CompletableFuture<String> future() {
			this.sightings.note("handler");
			return CompletableFuture.supplyAsync(this::noteElsewhere, this.executor);
		}

		@PostMapping("/over/deferred")
		@Idempotent
		DeferredResult<String> deferred() {
			this.sightings.note("handler");
			DeferredResult<String> result = new DeferredResult<>();
			this.executor.execute(() -> result.setResult(noteElsewhere()));
			return result;
		}

		@PostMapping("/over/mono")
		@Idempotent
		Mono<String> mono() {
			this.sightings.note("handler");
			return Mono.just("a").publishOn(Schedulers.boundedElastic()).map((value) -> noteElsewhere());
		}

		@PostMapping("/over/blocked-mono")
		@Idempotent
		String blockedMono() {
			this.sightings.note("handler");
			return Mono.just("a")
				.publishOn(Schedulers.boundedElastic())
				.map((value) -> noteElsewhere())
				.blockOptional()
				.orElseThrow();
		}

		private String noteElsewhere() {
			this.sightings.note(ELSEWHERE);
			return "done";
		}

	}

	/**
	 * Records the context of a method on another thread.
	 */
	static class AsyncNotes {

		private final Sightings sightings;

		AsyncNotes(Sightings sightings) {
			this.sightings = sightings;
		}

		@Async
		CompletableFuture<Void> note(String place) {
			this.sightings.note(place);
			return CompletableFuture.completedFuture(null);
		}

	}

}
