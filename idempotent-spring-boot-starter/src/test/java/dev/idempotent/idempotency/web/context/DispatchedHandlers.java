package dev.idempotent.idempotency.web.context;

import java.io.IOException;

import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;

/**
 * Handlers whose requests are dispatched more than once, or fail.
 */
@RestController
class DispatchedHandlers {

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
