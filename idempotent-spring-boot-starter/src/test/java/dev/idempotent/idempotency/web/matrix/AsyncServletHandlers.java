package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Handlers that use the asynchronous mode of the servlet API themselves.
 */
@RestController
class AsyncServletHandlers {

	private final AsyncTaskExecutor executor;

	AsyncServletHandlers(AsyncTaskExecutor executor) {
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
