package dev.idempotent.idempotency.web.transaction;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.transaction.Works.Troubled;
import dev.idempotent.testing.Gate;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.ModelAndView;

/**
 * Handlers that insert a row and then end in every way.
 */
@RestController
class WorkController {

	static final String TAKEN = "taken";

	/**
	 * Shared by the instances of a test.
	 */
	private static final Set<String> seen = ConcurrentHashMap.newKeySet();

	private final Works works;

	private final Troubled troubled;

	private final AtomicInteger runs = new AtomicInteger();

	private volatile @Nullable Gate gate;

	WorkController(Works works, Troubled troubled) {
		this.works = works;
		this.troubled = troubled;
	}

	void holdUpAt(@Nullable Gate closed) {
		this.gate = closed;
	}

	int runs() {
		return this.runs.get();
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "3s")
	@PostMapping("/jobs/{ending}")
	ResponseEntity<?> work(@PathVariable String ending, @RequestParam String name, HttpServletRequest request,
			HttpServletResponse response) throws Exception {
		int run = this.runs.incrementAndGet();
		this.works.write(name);
		return switch (ending) {
			case "created" -> ResponseEntity.created(URI.create("/works/" + name)).body(Map.of("run", run));
			case "declined" -> ResponseEntity.status(402).body(Map.of("run", run));
			case "conflict" -> ResponseEntity.status(409).body(Map.of("run", run));
			case "limited" -> ResponseEntity.status(429).body(Map.of("run", run));
			case "broken" -> ResponseEntity.status(503).body(Map.of("run", run));
			case "gate" -> pass(run);
			case "commit-gate" -> passAtTheCommit(run);
			case "large" -> ResponseEntity.ok("x".repeat(20_000));
			case "huge" -> ResponseEntity.ok("x".repeat(200_000));
			case "runtime" -> throw new IllegalStateException("The work went wrong");
			case "checked" -> this.troubled.throwChecked(name);
			case "no-rollback" -> this.troubled.throwDespite(name);
			case "lost" -> this.troubled.loseConnection();
			case "lost-at-commit" -> this.troubled.loseConnectionAtCommit();
			case "flaky" -> flaky(name);
			case "not-found" -> this.troubled.throwStatus(404);
			case "throws-conflict" -> this.troubled.throwStatus(409);
			case "unavailable" -> this.troubled.throwStatus(503);
			case "handled-as-ok" -> throw new HandledAsOkException();
			case "caught" -> this.troubled.swallowed(() -> ResponseEntity.status(201).body(Map.of("run", run)));
			case "caught-declined" ->
				this.troubled.swallowed(() -> ResponseEntity.status(422).body(Map.of("run", run)));
			case "send-error" -> sendError(response, 404);
			case "flush-throw" -> flushAndThrow(response);
			case "after-commit" -> this.troubled.failAfterCommit(run);
			case "before-commit" -> this.troubled.failBeforeCommit();
			case "requires-new" -> this.troubled.suspended(name);
			case "read-only" -> this.troubled.reading(name, run);
			case "failed-statement" -> failedStatement(name, run);
			case "async" -> async(request);
			case "dispatch" -> dispatch(request, response);
			default -> throw new IllegalArgumentException(ending);
		};
	}

	@Idempotent
	@PostMapping("/lease/{ending}")
	ResponseEntity<?> underLease(@PathVariable String ending) {
		this.runs.incrementAndGet();
		return this.troubled.loseConnection();
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/forwarded")
	ModelAndView forwarded(@RequestParam String name) {
		this.works.write(name);
		return new ModelAndView("forward:/shown?run=" + this.runs.incrementAndGet());
	}

	@PostMapping("/shown")
	String shown(@RequestParam int run) {
		return "shown " + run;
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@Transactional(isolation = Isolation.SERIALIZABLE)
	@PostMapping("/serializable")
	ResponseEntity<?> serializable(@RequestParam String name) throws InterruptedException {
		this.works.write(name);
		return pass(this.runs.incrementAndGet());
	}

	/**
	 * Fails at the first attempt.
	 */
	private ResponseEntity<?> flaky(String name) {
		return seen.add(name) ? this.troubled.throwStatus(404) : ResponseEntity.status(201).body(Map.of("run", name));
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@Transactional(isolation = Isolation.SERIALIZABLE, timeout = 77)
	@PostMapping("/attributes")
	Map<String, Object> attributes(@RequestParam String name) {
		return Map.of("isolation", TransactionSynchronizationManager.getCurrentTransactionIsolationLevel(), "name",
				TransactionSynchronizationManager.getCurrentTransactionName(), "timeLeft",
				this.works.secondsLeft() > 60);
	}

	private ResponseEntity<?> pass(int run) throws InterruptedException {
		Gate closed = this.gate;
		if (closed != null) {
			closed.pass();
		}
		return ResponseEntity.status(201).body(Map.of("run", run));
	}

	/**
	 * Called when everything is written, including the record.
	 */
	private ResponseEntity<?> passAtTheCommit(int run) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void beforeCompletion() {
				try {
					pass(run);
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
		});
		return ResponseEntity.status(201).body(Map.of("run", run));
	}

	private @Nullable ResponseEntity<?> sendError(HttpServletResponse response, int status) throws IOException {
		response.sendError(status);
		return null;
	}

	private ResponseEntity<?> flushAndThrow(HttpServletResponse response) throws IOException {
		response.setStatus(201);
		response.getOutputStream().write("too early".getBytes(StandardCharsets.UTF_8));
		response.flushBuffer();
		throw new IllegalStateException("After the answer was flushed");
	}

	private ResponseEntity<?> failedStatement(String name, int run) {
		this.works.writeItem(name, TAKEN);
		try {
			this.works.writeItem(name, TAKEN);
		}
		catch (DuplicateKeyException ex) {
			// PostgreSQL has aborted the whole transaction.
		}
		return ResponseEntity.status(201).body(Map.of("run", run));
	}

	private ResponseEntity<?> async(HttpServletRequest request) {
		request.startAsync();
		return ResponseEntity.ok().build();
	}

	private @Nullable ResponseEntity<?> dispatch(HttpServletRequest request, HttpServletResponse response)
			throws ServletException, IOException {
		request.getRequestDispatcher("/shown?run=0").forward(request, response);
		return null;
	}

	static final class HandledAsOkException extends RuntimeException {

	}

	@RestControllerAdvice
	static class Advice {

		@ExceptionHandler
		ResponseEntity<?> checked(Troubled.CheckedException ex) {
			return ResponseEntity.unprocessableContent().body(Map.of("checked", true));
		}

		@ExceptionHandler
		ResponseEntity<?> declined(Troubled.DeclinedException ex) {
			return ResponseEntity.status(402).body(Map.of("declined", true));
		}

		@ExceptionHandler
		ResponseEntity<?> violated(DataIntegrityViolationException ex) {
			return ResponseEntity.status(422).body(Map.of("violated", true));
		}

		@ExceptionHandler
		ResponseEntity<?> handledAsOk(HandledAsOkException ex) {
			return ResponseEntity.ok(Map.of("legacy", "error"));
		}

	}

}
