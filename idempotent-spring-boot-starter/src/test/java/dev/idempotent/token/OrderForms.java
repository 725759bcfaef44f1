package dev.idempotent.token;

import java.security.Principal;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.testing.Gate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.server.ResponseStatusException;

/**
 * Forms with a one-time token, and the handlers that process them.
 */
@Controller
class OrderForms {

	private final OneTimeTokens tokens;

	private final AtomicInteger runs = new AtomicInteger();

	private volatile @Nullable Gate gate;

	private volatile boolean failing;

	OrderForms(OneTimeTokens tokens) {
		this.tokens = tokens;
	}

	void reset() {
		this.runs.set(0);
		this.gate = null;
		this.failing = false;
	}

	int runs() {
		return this.runs.get();
	}

	Gate closeGate() {
		Gate closed = new Gate();
		this.gate = closed;
		return closed;
	}

	void fail(boolean fails) {
		this.failing = fails;
	}

	@GetMapping("/orders/new")
	@ResponseBody
	String form(@Nullable Principal principal) {
		return this.tokens.issue("place-order", principal);
	}

	@PostMapping("/orders")
	@Idempotent(from = KeySource.TOKEN, name = "place-order")
	String place(@RequestParam String item) throws InterruptedException {
		return "redirect:/orders/" + run();
	}

	@PostMapping("/orders/waiting")
	@Idempotent(from = KeySource.TOKEN, name = "place-order", onPending = OnPending.WAIT)
	ResponseEntity<String> placeOrWait() throws InterruptedException {
		return ResponseEntity.ok("run " + run());
	}

	@PostMapping("/refunds")
	@Idempotent(from = KeySource.TOKEN, name = "refund-order")
	String refund() throws InterruptedException {
		return "redirect:/refunds/" + run();
	}

	@PostMapping("/receipts")
	@Idempotent(from = KeySource.TOKEN, name = "place-order")
	ResponseEntity<String> upload(@RequestParam MultipartFile file) throws InterruptedException {
		return ResponseEntity.ok("run " + run() + " with " + file.getOriginalFilename());
	}

	private int run() throws InterruptedException {
		int run = this.runs.incrementAndGet();
		Gate closed = this.gate;
		if (closed != null) {
			closed.pass();
		}
		if (this.failing) {
			throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
		}
		return run;
	}

}
