package dev.idempotent.idempotency.openapi;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.WebApplication;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyOpenApiCustomizer} with the documents of springdoc.
 */
class IdempotencyOpenApiCustomizerTests {

	private static final String LATEST = "openapi_3_1";

	private static final String PROBLEM = "/content/application~1problem+json";

	private static final Map<String, JsonNode> documents = new HashMap<>();

	@BeforeAll
	static void read() {
		for (String version : List.of("openapi_3_0", LATEST)) {
			new WebApplicationContextRunner().withUserConfiguration(Application.class)
				.withPropertyValues(WebApplication.WITH_SPRINGDOC, "idempotent.namespace=shop",
						"springdoc.api-docs.version=" + version, "idempotent.web.required-for=POST /api/**",
						"idempotent.web.problem-base-uri=https://docs.example.com/problems/",
						"idempotent.token.secrets=k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
				.run((context) -> documents.put(version,
						JsonMapper.shared()
							.readTree(MockMvcTester.from(context)
								.get()
								.uri("/v3/api-docs")
								.exchange()
								.getResponse()
								.getContentAsByteArray())));
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			/orders        | post | Idempotency-Key: required
			/either        | post | Idempotency-Key
			/forms         | post | Idempotency-Key
			/fingerprint   | post |
			/events/{id}   | post |
			/api/{id}      | post | Idempotency-Key: required
			/api/{id}      | get  |
			/declared      | post | idempotency-key: required
			/holds         | post | Idempotency-Key: required
			/releases      | post | Idempotency-Key: required, Idempotency-Cancels: required
			/accounts      | post | X-Branch, Idempotency-Key: required, X-Account
			/plain         | post |
			""")
	void haveTheHeadersThatAnOperationTakes(String path, String method, String headers) {
		assertThat(headers(LATEST, path, method).values()
			.stream()
			.map((header) -> header.get("name").asString() + (header.path("required").asBoolean() ? ": required" : ""))
			.collect(Collectors.joining(", "))).isEqualTo((headers != null) ? headers : "");
	}

	@ParameterizedTest
	@ValueSource(strings = { "openapi_3_0", LATEST })
	void limitTheLengthOfAKey(String version) {
		assertThat(headers(version, "/orders", "post").values().iterator().next().get("schema"))
			.isEqualTo(JsonMapper.shared().readTree("{\"type\":\"string\",\"maxLength\":255,\"minLength\":1}"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '~',
			textBlock = """
					/orders      | post | 400: key-missing key-malformed request-malformed, 409: in-progress response-not-kept, 413: request-too-large, 422: key-reused, 503: overloaded store-unreachable
					/api/{id}    | post | 400: key-missing key-malformed request-malformed, 409: in-progress response-not-kept, 413: request-too-large, 422: key-reused, 503: overloaded store-unreachable
					/events/{id} | post | 400: key-missing request-malformed, 409: in-progress response-not-kept, 413: request-too-large, 503: overloaded store-unreachable
					/fingerprint | post | 400: request-malformed, 409: in-progress response-not-kept, 413: request-too-large, 503: overloaded store-unreachable
					/forms       | post | 400: key-missing key-malformed request-malformed, 403: token-refused, 409: in-progress response-not-kept, 410: token-expired, 413: request-too-large, 422: key-reused, 503: overloaded store-unreachable
					/holds       | post | 400: key-missing key-malformed request-malformed, 403: caller-required, 409: in-progress response-not-kept, 410: cancelled, 413: request-too-large, 422: key-reused, 503: overloaded store-unreachable outcome-unknown
					/api/{id}    | get  |
					/plain       | post |
					""")
	void haveTheProblemsOfAnOperation(String path, String method, String problems) {
		Map<String, String> found = new TreeMap<>();
		operation(LATEST, path, method).get("responses").properties().forEach((response) -> {
			JsonNode examples = response.getValue().at(PROBLEM + "/examples");
			if (!examples.isMissingNode()) {
				found.put(response.getKey(), String.join(" ", examples.propertyNames()));
			}
		});
		assertThat(found.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + ": " + entry.getValue())
			.collect(Collectors.joining(", "))).isEqualTo((problems != null) ? problems : "");
	}

	@ParameterizedTest
	@ValueSource(strings = { "openapi_3_0", LATEST })
	void describeProblems(String version) {
		JsonNode response = operation(version, "/orders", "post").at("/responses/409");
		assertThat(response.at(PROBLEM + "/schema/$ref").asString())
			.isEqualTo("#/components/schemas/IdempotencyProblem");
		assertThat(response.at("/headers/Retry-After/schema/type").asString()).isEqualTo("integer");
		assertThat(response.at(PROBLEM + "/examples/in-progress/$ref").asString())
			.isEqualTo("#/components/examples/idempotency-in-progress");
		JsonNode components = document(version).get("components");
		assertThat(components.at("/schemas/IdempotencyProblem/properties/retryable/type").asString())
			.isEqualTo("boolean");
		JsonNode example = components.at("/examples/idempotency-in-progress/value");
		assertThat(example.get("type").asString()).isEqualTo("https://docs.example.com/problems/in-progress");
		assertThat(example.get("retryable").asBoolean()).isTrue();
		assertThat(operation(version, "/orders", "post").at("/responses/422/headers").isMissingNode()).isTrue();
	}

	@Test
	void showThatASuccessMayBeAReplay() {
		assertThat(operation(LATEST, "/orders", "post").at("/responses/200/headers/Idempotent-Replayed/description")
			.asString()).contains("stored response");
		assertThat(operation(LATEST, "/plain", "post").at("/responses/200/headers").isMissingNode()).isTrue();
	}

	@Test
	void haveTheFieldOfAOneTimeToken() {
		assertThat(operation(LATEST, "/forms", "post")
			.at("/requestBody/content/multipart~1form-data/schema/allOf/1/properties/_idempotency/type")
			.asString()).isEqualTo("string");
	}

	@Test
	void keepWhatTheApplicationDocumentsItself() {
		JsonNode conflict = operation(LATEST, "/declared", "post").at("/responses/409");
		assertThat(conflict.get("description").asString()).isEqualTo("Sold out");
		assertThat(conflict.at(PROBLEM + "/examples").propertyNames()).contains("in-progress");
	}

	@Test
	void haveNoTraceOfHowTheyAreWritten() {
		assertThat(documents.values()).extracting(JsonNode::toString)
			.allSatisfy((document) -> assertThat(document).doesNotContain("x-idempotency"));
	}

	private static JsonNode operation(String version, String path, String method) {
		return document(version).get("paths").get(path).get(method);
	}

	private static JsonNode document(String version) {
		return Objects.requireNonNull(documents.get(version));
	}

	private static Map<String, JsonNode> headers(String version, String path, String method) {
		return operation(version, path, method).path("parameters")
			.valueStream()
			.filter((parameter) -> parameter.get("in").asString().equals("header"))
			.collect(Collectors.toMap((parameter) -> parameter.get("name").asString(), (parameter) -> parameter,
					(one, other) -> one, LinkedHashMap::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Orders.class)
	static class Application {

		@Bean
		InMemoryIdempotencyStore store() {
			return new InMemoryIdempotencyStore();
		}

	}

	@RestController
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		void place(@RequestBody Order order) {
		}

		@Idempotent(from = KeySource.HEADER_OR_FINGERPRINT, name = "orders.either")
		@PostMapping("/either")
		void either() {
		}

		@Idempotent(from = KeySource.TOKEN, name = "form")
		@PostMapping(path = "/forms", consumes = MediaType.MULTIPART_FORM_DATA_VALUE)
		void submit(@RequestPart Order order) {
		}

		@Idempotent(include = { "X-Account", "x-branch", "Host" })
		@PostMapping("/accounts")
		void pay(@RequestHeader(name = "X-Branch", required = false) String branch) {
		}

		@Idempotent(from = KeySource.FINGERPRINT, name = "merge", retention = "1m")
		@PostMapping("/fingerprint")
		void merge() {
		}

		@Idempotent(key = "#path.id", ignore = "*", name = "orders.receive")
		@PostMapping("/events/{id}")
		void receive(@PathVariable String id) {
		}

		@RequestMapping(path = "/api/{id}", method = { RequestMethod.GET, RequestMethod.POST })
		void require(@PathVariable String id) {
		}

		@Idempotent
		@ApiResponse(responseCode = "409", description = "Sold out")
		@PostMapping("/declared")
		void declare(@RequestHeader(name = "idempotency-key", required = false) String key) {
		}

		@Idempotent(name = "hold", guarantee = Guarantee.TRANSACTION)
		@PostMapping("/holds")
		void hold() {
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@Cancels("hold")
		@PostMapping("/releases")
		void release() {
		}

		@PostMapping("/plain")
		void plain() {
		}

		record Order(String item) {
		}

	}

}
