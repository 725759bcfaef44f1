package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;

/**
 * Handlers that return before their response is available.
 */
@RestController
class AsyncHandlers {

	private static final long SHORT = 50;

	private final AsyncTaskExecutor executor;

	private final Semaphore shutdown = new Semaphore(0);

	AsyncHandlers(AsyncTaskExecutor executor) {
		this.executor = executor;
	}

	@PostMapping("/callable")
	@Idempotent
	Callable<String> callable() {
		return () -> "called";
	}

	@PostMapping("/callable/{status}")
	@Idempotent
	Callable<ResponseEntity<String>> callableEntity(@PathVariable int status) {
		return () -> ResponseEntity.status(status).header("X-Status", String.valueOf(status)).body("answer");
	}

	@PostMapping("/callable/bytes/{size}")
	@Idempotent
	Callable<byte[]> callableBytes(@PathVariable int size) {
		return () -> new byte[size];
	}

	@PostMapping("/callable/throw-handled")
	@Idempotent
	Callable<String> callableThrowsHandled() {
		return () -> {
			throw new UnsupportedOperationException("handled");
		};
	}

	@PostMapping("/callable/throw")
	@Idempotent
	Callable<String> callableThrows() {
		return () -> {
			throw new IllegalStateException("unhandled");
		};
	}

	@PostMapping("/deferred/set-before")
	@Idempotent
	DeferredResult<String> deferredSetBefore() {
		DeferredResult<String> result = new DeferredResult<>();
		result.setResult("set before");
		return result;
	}

	@PostMapping("/deferred/set-by-thread")
	@Idempotent
	DeferredResult<ResponseEntity<String>> deferredSetByThread() {
		DeferredResult<ResponseEntity<String>> result = new DeferredResult<>();
		this.executor.execute(() -> result.setResult(ResponseEntity.accepted().body("set by a thread")));
		return result;
	}

	@PostMapping("/deferred/error-handled")
	@Idempotent
	DeferredResult<String> deferredErrorHandled() {
		DeferredResult<String> result = new DeferredResult<>();
		this.executor.execute(() -> result.setErrorResult(new UnsupportedOperationException("handled")));
		return result;
	}

	@PostMapping("/deferred/error")
	@Idempotent
	DeferredResult<String> deferredError() {
		DeferredResult<String> result = new DeferredResult<>();
		this.executor.execute(() -> result.setErrorResult(new IllegalStateException("unhandled")));
		return result;
	}

	@PostMapping("/deferred/timeout")
	@Idempotent
	DeferredResult<String> deferredTimeout() {
		return new DeferredResult<>(SHORT);
	}

	@PostMapping("/deferred/timeout-fallback")
	@Idempotent
	DeferredResult<String> deferredTimeoutFallback() {
		return new DeferredResult<>(SHORT, () -> "fallback");
	}

	@PostMapping("/future")
	@Idempotent
	CompletableFuture<ResponseEntity<ValueHandlers.Item>> future() {
		return CompletableFuture.supplyAsync(() -> ResponseEntity.ok(new ValueHandlers.Item("later", 1)),
				this.executor);
	}

	@PostMapping("/future/failed-handled")
	@Idempotent
	CompletableFuture<String> failedFutureHandled() {
		return CompletableFuture.failedFuture(new UnsupportedOperationException("handled"));
	}

	@PostMapping("/future/failed")
	@Idempotent
	CompletableFuture<String> failedFuture() {
		return CompletableFuture.failedFuture(new IllegalStateException("unhandled"));
	}

	@PostMapping("/task")
	@Idempotent
	WebAsyncTask<String> task() {
		return new WebAsyncTask<>(() -> "task done");
	}

	@PostMapping("/task/timeout")
	@Idempotent
	WebAsyncTask<String> taskTimeout() {
		return new WebAsyncTask<>(SHORT, this::untilShutdown);
	}

	@PostMapping("/task/timeout-fallback")
	@Idempotent
	WebAsyncTask<String> taskTimeoutFallback() {
		WebAsyncTask<String> task = new WebAsyncTask<>(SHORT, this::untilShutdown);
		task.onTimeout(() -> "fallback");
		return task;
	}

	/**
	 * Ignores interrupts: the exception of an interrupted task would race with the
	 * time-out.
	 */
	private String untilShutdown() {
		this.shutdown.acquireUninterruptibly();
		return "too late";
	}

	@EventListener(ContextClosedEvent.class)
	void shutDown() {
		this.shutdown.release(Integer.MAX_VALUE);
	}

	/**
	 * Handlers that use the asynchronous mode of the servlet API themselves.
	 */
	@RestController
	static class ByServlet {

		private final AsyncTaskExecutor executor;

		ByServlet(AsyncTaskExecutor executor) {
			this.executor = executor;
		}

		@PostMapping("/servlet-async/write")
		@Idempotent
		void write(HttpServletRequest request, HttpServletResponse response) {
			AsyncContext context = request.startAsync(request, response);
			this.executor.execute(() -> writeAndComplete(context));
		}

		@PostMapping("/servlet-async/write-to-original")
		@Idempotent
		void writeToOriginal(HttpServletRequest request, HttpServletResponse response) {
			AsyncContext context = request.startAsync();
			this.executor.execute(() -> writeAndComplete(context));
		}

		@PostMapping("/servlet-async/flush")
		@Idempotent
		void flush(HttpServletRequest request, HttpServletResponse response) {
			AsyncContext context = request.startAsync(request, response);
			this.executor.execute(() -> {
				try {
					context.getResponse().getWriter().write("flushed by a thread");
					context.getResponse().flushBuffer();
					context.complete();
				}
				catch (IOException ex) {
					throw new UncheckedIOException(ex);
				}
			});
		}

		@PostMapping("/servlet-async/complete/{status}")
		@Idempotent
		void complete(@PathVariable int status, HttpServletRequest request, HttpServletResponse response)
				throws IOException {
			response.setStatus(status);
			response.getOutputStream().print("written before");
			AsyncContext context = request.startAsync();
			this.executor.execute(context::complete);
		}

		@PostMapping("/servlet-async/dispatch")
		@Idempotent
		void dispatch(HttpServletRequest request, HttpServletResponse response) throws IOException {
			if (request.getDispatcherType() == DispatcherType.ASYNC) {
				response.getOutputStream().write(request.getInputStream().readAllBytes());
			}
			else {
				AsyncContext context = request.startAsync();
				this.executor.execute(context::dispatch);
			}
		}

		@PostMapping("/servlet-async/timeout")
		@Idempotent
		void timeout(HttpServletRequest request) {
			request.startAsync().setTimeout(50);
		}

		@PostMapping("/servlet-async/throw")
		@Idempotent
		void startAndThrow(HttpServletRequest request) {
			request.startAsync();
			throw new IllegalStateException("unhandled");
		}

		private static void writeAndComplete(AsyncContext context) {
			try {
				context.getResponse().setContentType("text/plain");
				context.getResponse().getWriter().write("written by a thread");
				context.complete();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
