package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ProblemRenderer}.
 */
class ProblemRendererIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(Application.class, container);
	}

	@Test
	void haveTheFormOfTheApplication() {
		HttpResponse<byte[]> refused = application.post("/orders", "{}");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/json");
		assertThat(WebApplication.text(refused)).startsWith("{\"error\":{\"code\":\"key-missing\"");
	}

	@Test
	void mayHaveAnotherStatus() {
		assertThat(application.post("/orders", "{}", "Idempotency-Key", this.key).statusCode()).isEqualTo(200);
		HttpResponse<byte[]> refused = application.post("/orders", "{\"a\":1}", "Idempotency-Key", this.key);
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(WebApplication.text(refused)).contains("key-reused");
	}

	/**
	 * A renderer that fails, or makes a success of a problem, is not believed.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "fails", "succeeds" })
	void areTheDefaultOtherwise(String mistake) {
		HttpResponse<byte[]> refused = application.post("/orders", "{}", "Idempotency-Key", mistake + ",");
		assertThat(refused.statusCode()).isEqualTo(400);
		assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(WebApplication.text(refused)).contains("key-malformed");
	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		String place(@RequestBody Map<String, Object> body) {
			return "placed";
		}

	}

	/**
	 * As many applications have: it must not turn a refusal into its own response.
	 */
	@RestControllerAdvice
	static class CatchAll {

		@ExceptionHandler
		ResponseEntity<String> handle(Exception ex) {
			return ResponseEntity.internalServerError().body("oops");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Orders.class, CatchAll.class })
	static class Application {

		@Bean
		ProblemRenderer problemRenderer(JsonMapper json) {
			return (problem) -> {
				String name = Objects.requireNonNull(problem.getType()).toString().replaceAll(".*:", "");
				return switch (name) {
					case "key-malformed" -> mistaken();
					case "key-reused" -> ResponseEntity.status(409).body(name);
					default -> ResponseEntity.status(problem.getStatus())
						.contentType(MediaType.APPLICATION_JSON)
						.body(json.writeValueAsString(Map.of("error", Map.of("code", name))));
				};
			};
		}

		private static int mistakes;

		private static ResponseEntity<String> mistaken() {
			if (mistakes++ % 2 == 0) {
				throw new IllegalStateException("The renderer is broken");
			}
			return ResponseEntity.ok("fine");
		}

	}

}
