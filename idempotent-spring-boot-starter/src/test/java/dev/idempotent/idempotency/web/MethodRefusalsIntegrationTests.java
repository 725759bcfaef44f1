package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests in which an annotated method of another bean is called.
 */
class MethodRefusalsIntegrationTests {

	private static final IdempotencyKey KEY = new IdempotencyKey("0".repeat(64));

	private static final Map<String, RuntimeException> REFUSALS = Map.of("pending",
			new IdempotencyPendingException(KEY, Duration.ofSeconds(5)), "mismatch",
			new IdempotencyMismatchException(KEY), "result", new IdempotencyResultException("It does not fit", null),
			"store", new IdempotencyStoreUnavailableException("It is away", null));

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, "idempotent.namespace=refusals"));

	@ParameterizedTest
	@CsvSource({ "pending, in-progress", "mismatch, key-reused", "result, response-not-kept",
			"store, store-unreachable" })
	void areAnsweredAsTheFilterAnswersThem(String refusal, String problem) {
		assertProblem(application.post("/refused", '"' + refusal + '"'), problem);
	}

	@Test
	void sayThatTheFirstOneCounts() {
		assertThat(text(application.post("/refused", "\"mismatch\""))).contains("the first one counts")
			.contains("send the first request again unchanged, or look it up");
	}

	@Test
	void areOfferedToExceptionHandlersOfTheApplicationFirst() {
		HttpResponse<byte[]> answer = application.post("/own", "\"pending\"");
		assertThat(answer.statusCode()).isEqualTo(200);
		assertThat(text(answer)).isEqualTo("come again");
	}

	@Test
	void mayRunAMethodOncePerItsOwnKey() {
		String id = '"' + UUID.randomUUID().toString() + '"';
		String first = text(application.post("/delegated", id));
		assertThat(text(application.post("/delegated", id))).isEqualTo(first);
		assertThat(text(application.post("/delegated", '"' + UUID.randomUUID().toString() + '"'))).isNotEqualTo(first);
	}

	@EnableAutoConfiguration
	@Import({ Refusing.class, AnsweringItself.class, Delegating.class, Service.class })
	static class Application {

	}

	@RestController
	static class Refusing {

		@PostMapping("/refused")
		String refused(@RequestBody String refusal) {
			throw REFUSALS.get(refusal.replace("\"", ""));
		}

	}

	@RestController
	static class AnsweringItself {

		@PostMapping("/own")
		String refused() {
			throw new IdempotencyPendingException(KEY, Duration.ofSeconds(5));
		}

		@ExceptionHandler
		String pending(IdempotencyPendingException ex) {
			return "come again";
		}

	}

	@RestController
	static class Delegating {

		private final Service service;

		Delegating(Service service) {
			this.service = service;
		}

		@PostMapping("/delegated")
		String place(@RequestBody String id) {
			return this.service.place(id);
		}

	}

	static class Service {

		@Idempotent(key = "#id", name = "service-place")
		public String place(String id) {
			return UUID.randomUUID().toString();
		}

	}

}
