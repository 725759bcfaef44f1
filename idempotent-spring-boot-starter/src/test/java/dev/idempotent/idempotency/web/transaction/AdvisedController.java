package dev.idempotent.idempotency.web.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.http.ResponseEntity;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Handlers that write a row, with the advice that applications have around them.
 */
@RestController
class AdvisedController {

	private final Works works;

	private final AtomicInteger runs = new AtomicInteger();

	AdvisedController(Works works) {
		this.works = works;
	}

	int runs() {
		return this.runs.get();
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@Retryable(maxRetries = 2, delay = 0)
	@PostMapping("/retried")
	ResponseEntity<?> retried(@RequestParam String name) {
		return failFirst(name);
	}

	@Idempotent
	@Retryable(maxRetries = 2, delay = 0)
	@PostMapping("/retried-under-lease")
	ResponseEntity<?> retriedUnderLease(@RequestParam String name) {
		return failFirst(name);
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/failing/{advice}")
	ResponseEntity<?> failing(@PathVariable String advice, @RequestParam String name) {
		this.runs.incrementAndGet();
		this.works.write(name);
		throw new IllegalStateException("Half of the work is done");
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/succeeding/{advice}")
	ResponseEntity<?> succeeding(@PathVariable String advice, @RequestParam String name) {
		this.runs.incrementAndGet();
		this.works.write(name);
		return ResponseEntity.status(201).body(advice);
	}

	@ExceptionHandler
	ResponseEntity<?> locked(PessimisticLockingFailureException ex) {
		return ResponseEntity.status(503).body("try again");
	}

	/**
	 * Fails as a deadlock victim does.
	 */
	private ResponseEntity<?> failFirst(String name) {
		int run = this.runs.incrementAndGet();
		this.works.write(name);
		if (this.works.count(name) == 1) {
			throw new PessimisticLockingFailureException("This attempt fails");
		}
		return ResponseEntity.status(201).body(run);
	}

	/**
	 * Wraps the handlers that have a path variable.
	 */
	abstract static class Wrapper {

		private final String position;

		private final Works works;

		Wrapper(String position, Works works) {
			this.position = position;
			this.works = works;
		}

		@Around("execution(* dev.idempotent.idempotency.web.transaction.AdvisedController.*ing(..))")
		@Nullable Object around(ProceedingJoinPoint call) throws Throwable {
			String advice = (String) call.getArgs()[0];
			if (!advice.startsWith(this.position)) {
				return call.proceed();
			}
			return switch (advice.substring(this.position.length() + 1)) {
				case "fallback" -> fallback(call, 200);
				case "refusal" -> fallback(call, 422);
				case "twice" -> {
					call.proceed();
					yield call.proceed();
				}
				case "elsewhere" -> CompletableFuture.supplyAsync(() -> fallback(call, 200)).join();
				case "instead" -> ResponseEntity.ok("cached");
				case "work-instead" -> {
					this.works.write((String) call.getArgs()[1]);
					yield ResponseEntity.status(201).body("written elsewhere");
				}
				case "late" -> {
					call.proceed();
					throw new IllegalStateException("After the handler");
				}
				default -> throw new IllegalArgumentException(advice);
			};
		}

		private static @Nullable Object fallback(ProceedingJoinPoint call, int status) {
			try {
				return call.proceed();
			}
			catch (Throwable ex) {
				return ResponseEntity.status(status).body("fallback");
			}
		}

	}

	@Aspect
	static class UnorderedAspect extends Wrapper {

		UnorderedAspect(Works works) {
			super("unordered", works);
		}

	}

	@Aspect
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class OuterAspect extends Wrapper {

		OuterAspect(Works works) {
			super("outer", works);
		}

	}

}
