package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Handlers that fail in all ways.
 */
@RestController
class FailingController {

	private final AtomicInteger runs = new AtomicInteger();

	int runs() {
		return this.runs.get();
	}

	@Idempotent(lease = "1m")
	@PostMapping("/lease")
	void lease() {
		fail(HttpStatus.NOT_FOUND);
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
	@PostMapping("/transaction")
	void transaction() {
		fail(HttpStatus.NOT_FOUND);
	}

	@Idempotent(lease = "1m")
	@PostMapping("/callable")
	Callable<String> callable() {
		return () -> {
			fail(HttpStatus.NOT_FOUND);
			return "";
		};
	}

	@Idempotent(lease = "1m")
	@PostMapping("/send-error")
	void sendError(HttpServletResponse response) throws IOException {
		this.runs.incrementAndGet();
		response.getWriter().write("left out");
		response.sendError(404, "none");
	}

	@Idempotent(lease = "1m")
	@PostMapping("/completes")
	void complete(HttpServletRequest request) {
		this.runs.incrementAndGet();
		var context = request.startAsync();
		context.start(() -> {
			try {
				((HttpServletResponse) context.getResponse()).sendError(404);
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
			context.complete();
		});
	}

	@Idempotent(lease = "1m")
	@PostMapping("/throws")
	void fail() {
		this.runs.incrementAndGet();
		throw new IllegalStateException("unhandled");
	}

	@Idempotent(lease = "1m")
	@PostMapping("/throws-late")
	void failLate(HttpServletResponse response) throws IOException {
		response.setContentType("application/x-ndjson");
		response.getWriter().write("{}");
		this.runs.incrementAndGet();
		throw new IllegalStateException("unhandled");
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
	@PostMapping("/unavailable")
	void unavailable() {
		fail(HttpStatus.SERVICE_UNAVAILABLE);
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
	@PostMapping("/transaction-throws")
	void failTransaction() {
		fail();
	}

	private void fail(HttpStatus status) {
		this.runs.incrementAndGet();
		throw new ResponseStatusException(status);
	}

}
