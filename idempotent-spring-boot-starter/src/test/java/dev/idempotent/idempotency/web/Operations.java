package dev.idempotent.idempotency.web;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.testing.Gate;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Min;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.server.ResponseStatusException;

/**
 * Handlers that count their runs.
 */
@RestController
class Operations {

	/**
	 * The lease of {@code /gated}. Renewed every few seconds, so a pause of a busy
	 * machine does not end it.
	 */
	static final Duration LEASE = Duration.ofSeconds(9);

	private final AtomicInteger runs = new AtomicInteger();

	private volatile Gate gate = new Gate();

	int runs() {
		return this.runs.get();
	}

	Gate closeGate() {
		this.runs.set(0);
		this.gate = new Gate();
		return this.gate;
	}

	void reset() {
		this.runs.set(0);
	}

	@PostMapping("/orders")
	@Idempotent
	ResponseEntity<Map<String, Object>> order(@Valid @RequestBody Order order) {
		this.runs.incrementAndGet();
		String id = UUID.randomUUID().toString();
		return ResponseEntity.created(URI.create("/orders/" + id))
			.header("X-Order", id)
			.header(HttpHeaders.SET_COOKIE, "visited=1")
			.body(Map.of("id", id, "item", order.item()));
	}

	@PostMapping("/held")
	@Idempotent
	String held() throws InterruptedException {
		return gated();
	}

	@PostMapping("/gated")
	@Idempotent(lease = "9s")
	String gated() throws InterruptedException {
		this.runs.incrementAndGet();
		this.gate.pass();
		return "through";
	}

	@PostMapping("/short")
	@Idempotent
	String runForAMillisecond() {
		LockSupport.parkNanos(1_000_000);
		return "run " + this.runs.incrementAndGet();
	}

	@PostMapping("/answers/{status}")
	@Idempotent
	ResponseEntity<String> answer(@PathVariable int status) {
		return ResponseEntity.status(status).body("run " + this.runs.incrementAndGet());
	}

	@PostMapping("/throws")
	@Idempotent
	void fail(@RequestBody String what) {
		this.runs.incrementAndGet();
		switch (what) {
			case "handled" -> throw new OutOfStockException();
			case "status" -> throw new ResponseStatusException(HttpStatus.GONE, "sold");
			default -> throw new IllegalStateException("unexpected");
		}
	}

	@PostMapping("/large/{size}")
	@Idempotent
	byte[] large(@PathVariable int size) {
		this.runs.incrementAndGet();
		return new byte[size];
	}

	@PostMapping("/merged")
	@Idempotent(from = KeySource.FINGERPRINT, retention = "20s", name = "operations.merged")
	String merged() {
		return "run " + this.runs.incrementAndGet();
	}

	@PostMapping("/either")
	@Idempotent(from = KeySource.HEADER_OR_FINGERPRINT, name = "operations.either")
	String either() {
		return "run " + this.runs.incrementAndGet();
	}

	@PostMapping("/derived/{id}")
	@Idempotent(key = "{#path.id, #body.event}", name = "operations.derived")
	String derived(@PathVariable String id) {
		return "run " + this.runs.incrementAndGet();
	}

	@PostMapping("/awaited")
	@Idempotent(onPending = OnPending.WAIT)
	String awaited() throws InterruptedException {
		return gated();
	}

	@PostMapping("/awaited-failure")
	@Idempotent(onPending = OnPending.WAIT)
	ResponseEntity<String> awaitedFailure() throws InterruptedException {
		return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body(gated());
	}

	@PostMapping({ "/plain", "/plain/{id}" })
	String plain(HttpServletRequest request) {
		return "run " + this.runs.incrementAndGet() + request.getParameter("field");
	}

	record Order(String item, @Min(1) int amount) {
	}

	@SuppressWarnings("serial")
	static final class OutOfStockException extends RuntimeException {

	}

	@RestControllerAdvice
	static class Advice {

		@ExceptionHandler(OutOfStockException.class)
		ResponseEntity<String> outOfStock() {
			return ResponseEntity.unprocessableContent().body("out of stock");
		}

	}

}
