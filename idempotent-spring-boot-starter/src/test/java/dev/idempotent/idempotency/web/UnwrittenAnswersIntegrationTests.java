package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that have returned a response which the client does not accept: their work is
 * done, so that the error is not what a retry should get.
 */
class UnwrittenAnswersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication sendingErrors = on(false);

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication writingProblems = on(true);

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@ValueSource(strings = { "/map", "/entity" })
	void areNotKept(String path) {
		for (RunningApplication application : new RunningApplication[] { sendingErrors, writingProblems }) {
			assertThat(post(application, path, "text/csv").statusCode()).isEqualTo(406);
			assertProblem(post(application, path, "application/json"), "response-not-kept");
			assertProblem(post(application, path, "text/csv"), "response-not-kept");
			assertThat(application.bean(Handlers.class).runs()).isOne();
		}
	}

	@Test
	void areNotThoseOfAPartThatDoesNotExist() {
		for (boolean replayed : new boolean[] { false, true }) {
			HttpResponse<byte[]> response = writingProblems.post("/file", "{}", "Idempotency-Key", this.key, "Range",
					"bytes=50-60");
			assertThat(response.statusCode()).isEqualTo(416);
			assertThat(response.headers().firstValue("Idempotent-Replayed").isPresent()).isEqualTo(replayed);
		}
		assertProblem(post(writingProblems, "/file", "*/*"), "key-reused");
	}

	@Test
	void areNotThoseOfAsynchronousWorkThatFails() {
		assertThat(post(writingProblems, "/failing", "application/json").statusCode()).isEqualTo(410);
		HttpResponse<byte[]> retry = post(writingProblems, "/failing", "application/json");
		assertThat(retry.statusCode()).isEqualTo(410);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private HttpResponse<byte[]> post(RunningApplication application, String path, String accept) {
		return application.post(path, "{}", "Idempotency-Key", this.key, "Accept", accept);
	}

	private static RunningApplication on(boolean problems) {
		return RunningApplication.of(() -> WebApplication.start(Application.class, redis,
				"idempotent.namespace=unwritten-" + problems, "spring.mvc.problemdetails.enabled=" + problems))
			.resetting(Handlers.class, Handlers::reset);
	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		void reset() {
			this.runs.set(0);
		}

		@PostMapping("/map")
		@Idempotent
		Map<String, Integer> map() {
			return Map.of("run", this.runs.incrementAndGet());
		}

		@PostMapping("/entity")
		@Idempotent
		ResponseEntity<Map<String, Integer>> entity() {
			return ResponseEntity.status(HttpStatus.CREATED).body(map());
		}

		@PostMapping("/file")
		@Idempotent
		Resource file() {
			return new ByteArrayResource(new byte[10]);
		}

		@PostMapping("/failing")
		@Idempotent
		CompletableFuture<String> failing() {
			return CompletableFuture.failedFuture(new ResponseStatusException(HttpStatus.GONE));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "caller";
		}

	}

}
