package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.DocumentedProblem;
import jakarta.validation.Valid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The problem responses of an application that documents their types, and that stores
 * errors.
 */
class ProblemResponsesIntegrationTests extends AbstractTomcatAndJettyTests {

	private static final String BASE_URI = "https://docs.example.com/problems#";

	private static final String PROBLEM = "X-Problem";

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(Application.class, container, "idempotent.web.problem-base-uri=" + BASE_URI, "idempotent.on-error=keep",
				"spring.mvc.problemdetails.enabled=true");
	}

	@ParameterizedTest
	@EnumSource(Problem.class)
	void areAsDocumented(Problem problem) {
		HttpResponse<byte[]> response = post("/orders?q=secret", PROBLEM, problem.name());
		DocumentedProblem.of(problem.slug()).assertMatches(response, BASE_URI);
		assertThat(text(response)).doesNotContain("secret");
	}

	@Test
	void areAllDocumented() {
		assertThat(DocumentedProblem.all()).extracting(DocumentedProblem::name)
			.containsExactlyInAnyOrderElementsOf(Arrays.stream(Problem.values()).map(Problem::slug).toList());
	}

	@Test
	void haveAnInstanceEach() {
		HttpResponse<byte[]> one = post("/orders", PROBLEM, "IN_PROGRESS");
		HttpResponse<byte[]> other = post("/orders", PROBLEM, "IN_PROGRESS");
		assertThat(DocumentedProblem.members(one).get("instance"))
			.isNotEqualTo(DocumentedProblem.members(other).get("instance"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "text/html", "application/xml", "image/png", "application/json" })
	void areJsonWhateverTheClientAccepts(String accepted) {
		DocumentedProblem.of("key-reused")
			.assertMatches(post("/orders", PROBLEM, "KEY_REUSED", "Accept", accepted, "Accept-Language", "de"),
					BASE_URI);
		DocumentedProblem.of("store-unreachable")
			.assertMatches(application.post("/unreachable", "{}", "Accept", accepted), BASE_URI);
	}

	@Test
	void areNotRetryableIfTheyAreStored() {
		HttpResponse<byte[]> first = post("/stored-unreachable");
		new DocumentedProblem("store-unreachable", 503, false).assertMatches(first, BASE_URI);
		HttpResponse<byte[]> retry = post("/stored-unreachable");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().allValues("Link")).isEqualTo(first.headers().allValues("Link"));
	}

	@Test
	void leaveTheProblemsOfSpringAsTheyAre() {
		HttpResponse<byte[]> response = application.post("/orders", "{", "Idempotency-Key", this.key);
		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(DocumentedProblem.members(response)).containsEntry("instance", "/orders")
			.doesNotContainKey("retryable");
		assertThat(response.headers().firstValue("Link")).isEmpty();
	}

	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application {

		/**
		 * Refuses each request with the problem that it names.
		 */
		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> {
				String problem = request.getHeader(PROBLEM);
				if (problem != null) {
					throw Problem.valueOf(problem.toUpperCase(Locale.ROOT)).refusal("Refused.");
				}
				return "";
			};
		}

	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		String place(@Valid @RequestBody Order order) {
			return Objects.requireNonNull(order.item());
		}

		@PostMapping("/unreachable")
		void call() {
			throw new IdempotencyStoreUnavailableException("A method could not claim its key", null);
		}

		@Idempotent
		@PostMapping("/stored-unreachable")
		void callAndStore() {
			call();
		}

		record Order(String item) {
		}

	}

}
