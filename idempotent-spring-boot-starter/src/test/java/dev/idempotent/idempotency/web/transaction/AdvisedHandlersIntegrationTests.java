package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.http.ResponseEntity;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Advice of applications around handlers under {@code Guarantee.TRANSACTION}: what is not
 * one complete call of the handler is not committed.
 */
class AdvisedHandlersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> WebApplication.start(Application.class,
			redis, WebApplication.WITH_DATABASE, "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID()));

	private final String name = "work-" + UUID.randomUUID();

	private final String key = UUID.randomUUID().toString();

	@Test
	void commitNoAttemptOfARetriedHandler() {
		int before = runs();
		HttpResponse<byte[]> first = post("/retried");
		assertThat(first.statusCode()).as(text(first)).isEqualTo(503);
		assertThat(rows()).isZero();
		assertThat(runs()).as("the body is not entered a second time").isEqualTo(before + 1);
		assertThat(post("/retried").statusCode()).isEqualTo(503);
		assertThat(runs()).isEqualTo(before + 2);
		assertThat(rows()).isZero();
	}

	@Test
	void repeatAHandlerUnderALease() {
		HttpResponse<byte[]> first = post("/retried-under-lease");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(rows()).isEqualTo(2);
		assertReplayed(first, post("/retried-under-lease"));
		assertThat(rows()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "unordered", "outer" })
	void doNotCommitWorkThatAFallbackHides(String position) {
		int before = runs();
		assertProblem(post("/failing/" + position + "-fallback"), "rolled-back");
		assertThat(rows()).isZero();
		assertProblem(post("/failing/" + position + "-fallback"), "rolled-back");
		assertThat(runs()).isEqualTo(before + 2);
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "unordered", "outer" })
	void storeTheRefusalThatAFallbackReturns(String position) {
		HttpResponse<byte[]> first = post("/failing/" + position + "-refusal");
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(rows()).isZero();
		assertReplayed(first, post("/failing/" + position + "-refusal"));
	}

	@ParameterizedTest
	@CsvSource({ "succeeding, unordered-twice", "succeeding, outer-twice", "failing, outer-elsewhere",
			"succeeding, outer-elsewhere", "succeeding, unordered-elsewhere", "succeeding, outer-late",
			"succeeding, unordered-late" })
	void doNotCommitWhatIsNotOneCompleteCall(String handler, String advice) {
		assertThat(post("/" + handler + "/" + advice).statusCode()).isEqualTo(500);
		assertThat(rows()).isZero();
		assertThat(isReplay(post("/" + handler + "/" + advice))).isFalse();
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "unordered-work-instead", "outer-work-instead", "outer-instead" })
	void doNotReportSuccessWithoutTheHandler(String advice) {
		assertProblem(post("/succeeding/" + advice), "rolled-back");
		assertThat(rows()).isZero();
	}

	@Test
	void commitOneCompleteCall() {
		HttpResponse<byte[]> first = post("/succeeding/none");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(rows()).isOne();
		assertReplayed(first, post("/succeeding/none"));
		assertThat(rows()).isOne();
	}

	private HttpResponse<byte[]> post(String path) {
		return application.post(path + "?name=" + this.name, "{}", "Idempotency-Key", this.key);
	}

	private int rows() {
		return application.bean(Works.class).count(this.name);
	}

	private static int runs() {
		return application.bean(Handlers.class).runs();
	}

	private static boolean isReplay(HttpResponse<byte[]> response) {
		return response.headers().firstValue("Idempotent-Replayed").isPresent();
	}

	private static void assertReplayed(HttpResponse<byte[]> first, HttpResponse<byte[]> retry) {
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.statusCode()).isEqualTo(first.statusCode());
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableResilientMethods
	@Import({ Handlers.class, Handlers.UnorderedAspect.class, Handlers.OuterAspect.class, Works.class })
	static class Application {

	}

	/**
	 * Handlers that write a row, with the advice that applications have around them.
	 */
	@RestController
	static class Handlers {

		private final Works works;

		private final AtomicInteger runs = new AtomicInteger();

		Handlers(Works works) {
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

			@Around("execution(* dev.idempotent.idempotency.web.transaction.AdvisedHandlersIntegrationTests.Handlers.*ing(..))")
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
		@org.springframework.core.annotation.Order(Ordered.HIGHEST_PRECEDENCE)
		static class OuterAspect extends Wrapper {

			OuterAspect(Works works) {
				super("outer", works);
			}

		}

	}

}
