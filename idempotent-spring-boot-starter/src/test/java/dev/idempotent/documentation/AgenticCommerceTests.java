package dev.idempotent.documentation;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.idempotency.web.ProblemRenderer;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The example of docs/agents.md follows section 6 of the Agentic Checkout Specification:
 * statuses, codes and headers of a checkout.
 */
class AgenticCommerceTests {

	private static final String SESSION = """
			{"items":[{"id":"item_123","quantity":1}],"buyer":{"first_name":"John"}}""";

	private static WebApplication seller;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		seller = WebApplication.start(Seller.class, List::of);
	}

	@AfterAll
	static void stop() {
		seller.close();
	}

	@Test
	void isTheExampleOfThePage() {
		String source = words(Page.source("idempotent-spring-boot-starter/src/test/java/"
				+ "dev/idempotent/documentation/AgenticCommerceTests.java"));
		assertThat(Page.of("docs/agents.md").blocks("java"))
			.filteredOn((example) -> example.contains(ProblemRenderer.class.getSimpleName()))
			.singleElement()
			.satisfies((example) -> assertThat(source).contains(words(example)));
	}

	private static String words(String code) {
		return code.strip().replaceAll("\\s+", " ");
	}

	@Test
	void requiresAKey() {
		HttpResponse<byte[]> refused = seller.post("/checkout_sessions", SESSION, "X-User", "alice");
		assertError(refused, 400, "invalid_request", "idempotency_key_required");
	}

	@Test
	void replaysTheOriginalResponse() {
		HttpResponse<byte[]> created = post("/checkout_sessions", SESSION);
		HttpResponse<byte[]> replayed = post("/checkout_sessions", """
				{"buyer": {"first_name": "John"}, "items": [{"quantity": 1.0, "id": "item_123"}]}""");
		assertThat(created.statusCode()).isEqualTo(201);
		assertThat(replayed.statusCode()).isEqualTo(201);
		assertThat(replayed.body()).isEqualTo(created.body());
		assertThat(created.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(replayed.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(replayed.headers().firstValue("Idempotency-Key")).hasValue(this.key);
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = {
			"{\"items\":[{\"id\":\"item_123\",\"quantity\":2}],\"buyer\":{\"first_name\":\"John\"}}",
			"{\"items\":[{\"id\":\"item_123\",\"quantity\":1}],\"buyer\":{\"first_name\":\"John\",\"email\":null}}" })
	void refusesAnotherBodyUnderOneKey(String other) {
		assertThat(post("/checkout_sessions", SESSION).statusCode()).isEqualTo(201);
		HttpResponse<byte[]> refused = post("/checkout_sessions", other);
		assertError(refused, 422, "invalid_request", "idempotency_conflict");
		assertThat(refused.headers().firstValue("Retry-After")).isEmpty();
		assertThat(refused.headers().firstValue("Idempotency-Key")).hasValue(this.key);
	}

	@Test
	void refusesARequestWhileTheFirstIsInFlight() throws Exception {
		Gate gate = seller.bean(Sessions.class).close();
		CompletableFuture<HttpResponse<byte[]>> first = seller.postAsync("/checkout_sessions/one/complete", "{}",
				"X-User", "alice", "Idempotency-Key", this.key);
		gate.awaitEntry();
		HttpResponse<byte[]> refused = post("/checkout_sessions/one/complete", "{}");
		gate.open();
		assertError(refused, 409, "invalid_request", "idempotency_in_flight");
		assertThat(refused.headers().firstValue("Retry-After"))
			.hasValueSatisfying((wait) -> assertThat(wait).containsOnlyDigits());
		assertThat(first.join().statusCode()).isEqualTo(200);
	}

	@Test
	void treatsOneKeyOnTwoEndpointsIndependently() {
		assertThat(post("/checkout_sessions", SESSION).statusCode()).isEqualTo(201);
		assertThat(post("/checkout_sessions/two", SESSION).statusCode()).isEqualTo(200);
		assertThat(post("/checkout_sessions/three", SESSION).statusCode()).isEqualTo(200);
	}

	@Test
	void treatsOneKeyOfTwoIdentitiesIndependently() {
		byte[] first = post("/checkout_sessions", SESSION).body();
		HttpResponse<byte[]> other = seller.post("/checkout_sessions", SESSION, "X-User", "bob", "Idempotency-Key",
				this.key);
		assertThat(other.statusCode()).isEqualTo(201);
		assertThat(other.body()).isNotEqualTo(first);
	}

	@Test
	void runsAgainAfterAServerError() {
		assertThat(post("/checkout_sessions/four/cancel", "{}").statusCode()).isEqualTo(503);
		assertThat(post("/checkout_sessions/four/cancel", "{}").statusCode()).isEqualTo(200);
	}

	private HttpResponse<byte[]> post(String path, String json) {
		return seller.post(path, json, "X-User", "alice", "Idempotency-Key", this.key);
	}

	/**
	 * Flat, with the members that the specification names.
	 */
	private static void assertError(HttpResponse<byte[]> refused, int status, String type, String code) {
		assertThat(refused.statusCode()).isEqualTo(status);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/json");
		JsonNode error = JsonMapper.shared().readTree(refused.body());
		assertThat(error.propertyNames()).containsExactlyInAnyOrder("type", "code", "message");
		assertThat(error.get("type").stringValue()).isEqualTo(type);
		assertThat(error.get("code").stringValue()).isEqualTo(code);
		assertThat(error.get("message").stringValue()).isNotBlank();
	}

	@RestController
	static class Sessions {

		private final AtomicInteger sessions = new AtomicInteger();

		private final AtomicInteger cancellations = new AtomicInteger();

		private volatile Gate gate = new Gate();

		Gate close() {
			this.gate = new Gate();
			return this.gate;
		}

		@Idempotent
		@PostMapping("/checkout_sessions")
		@ResponseStatus(HttpStatus.CREATED)
		Map<String, Object> create(@RequestBody Map<String, Object> session) {
			return Map.of("id", "checkout_session_" + this.sessions.incrementAndGet());
		}

		@Idempotent
		@PostMapping("/checkout_sessions/{id}")
		Map<String, Object> update(@PathVariable String id, @RequestBody Map<String, Object> session) {
			return Map.of("id", id);
		}

		@Idempotent
		@PostMapping("/checkout_sessions/{id}/complete")
		Map<String, Object> complete(@PathVariable String id) throws InterruptedException {
			this.gate.pass();
			return Map.of("id", id, "status", "completed");
		}

		@Idempotent
		@PostMapping("/checkout_sessions/{id}/cancel")
		Map<String, Object> cancel(@PathVariable String id) {
			if (this.cancellations.getAndIncrement() == 0) {
				throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
			}
			return Map.of("id", id, "status", "canceled");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Checkout {

		@Bean
		ProblemRenderer checkoutErrors(JsonMapper json) {
			Map<String, String> codes = Map.of("key-missing", "idempotency_key_required", "in-progress",
					"idempotency_in_flight", "key-reused", "idempotency_conflict");
			return (problem) -> {
				String name = String.valueOf(problem.getType()).replaceAll(".*:", "");
				String error = (problem.getStatus() < 500) ? "invalid_request"
						: (problem.getStatus() == 503) ? "service_unavailable" : "processing_error";
				return ResponseEntity.status(problem.getStatus())
					.contentType(MediaType.APPLICATION_JSON)
					.body(json.writeValueAsString(Map.of("type", error, "code", codes.getOrDefault(name, name),
							"message", String.valueOf(problem.getDetail()))));
			};
		}

		@Bean
		IdempotencyScopeResolver checkoutScopes() {
			return (request) -> request.getUserPrincipal().getName() + ' '
					+ (request.getRequestURI().startsWith("/checkout") ? request.getRequestURI() : "");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Sessions.class, Checkout.class })
	static class Seller {

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

		/**
		 * Authenticates, and sends the key back.
		 */
		@Bean
		OncePerRequestFilter front() {
			return new OncePerRequestFilter() {

				@Override
				protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response,
						FilterChain chain) throws ServletException, IOException {
					String sent = request.getHeader("Idempotency-Key");
					if (sent != null) {
						response.setHeader("Idempotency-Key", sent);
					}
					chain.doFilter(new HttpServletRequestWrapper(request) {

						@Override
						public Principal getUserPrincipal() {
							return () -> request.getHeader("X-User");
						}

					}, response);
				}

			};
		}

	}

}
