package dev.idempotent.idempotency.web;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

/**
 * Hostile request bodies over real HTTP.
 */
class HostileBodiesIntegrationTests {

	private static final int LIMIT = 1024 * 1024;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis))
		.resetting(Operations.class, Operations::reset);

	private final Operations operations = application.bean(Operations.class);

	private final String key = UUID.randomUUID().toString();

	static Stream<Object> hostileJson() {
		return HostileJson.documents().entrySet().stream().map((json) -> argumentSet(json.getKey(), json.getValue()));
	}

	@ParameterizedTest
	@MethodSource("hostileJson")
	void runABytesHandlerOnce(byte[] json) {
		assertRunsOnce("application/json", json);
	}

	@ParameterizedTest
	@MethodSource("hostileJson")
	void areRefusedAndReleaseTheKeyIfTheyCannotBeRead(byte[] json) {
		for (int i = 0; i < 2; i++) {
			HttpResponse<byte[]> refused = post("/orders", "application/json", BodyPublishers.ofByteArray(json));
			assertThat(refused.statusCode()).isEqualTo(400);
			assertEchoesNothing(refused);
		}
		assertThat(this.operations.runs()).isZero();
		assertThat(application.post("/orders", "{\"item\":\"coupon\",\"amount\":1}", "Idempotency-Key", this.key)
			.statusCode()).isEqualTo(201);
	}

	@ParameterizedTest
	@MethodSource("hostileJson")
	void yieldAtMostOneKeyIfTheKeyIsDerived(byte[] json) {
		String path = "/derived/" + this.key;
		HttpResponse<byte[]> first = post(path, "application/json", BodyPublishers.ofByteArray(json));
		HttpResponse<byte[]> retry = post(path, "application/json", BodyPublishers.ofByteArray(json));
		assertThat(first.statusCode()).isIn(200, 400);
		assertThat(retry.statusCode()).isEqualTo(first.statusCode());
		assertThat(this.operations.runs()).isEqualTo((first.statusCode() == 200) ? 1 : 0);
		assertEchoesNothing(first);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			application/json;charset=UTF-16     | UTF-16
			application/json;charset=ISO-8859-1 | ISO-8859-1
			application/json;charset            | UTF-8
			""")
	void runOnceUnderAnyContentType(String contentType, Charset charset) {
		assertRunsOnce(contentType, "{\"item\":\"caf\u00e9\",\"amount\":1}".getBytes(charset));
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/json;charset=nonsense", "application", "/", ";;;===",
			"application/json, text/plain" })
	void neverRunUnderAMalformedContentType(String contentType) {
		HttpResponse<byte[]> response = post("/bytes", contentType, BodyPublishers.ofString("{}"));
		assertThat(response.statusCode()).isIn(400, 415);
		assertThat(this.operations.runs()).isZero();
	}

	/**
	 * Spring MVC parses them before it knows the handler, with or without the annotation.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "multipart/form-data;boundary", "multipart/form-data", "multipart/mixed;boundary=x" })
	void neverRunIfTheyAreNoMultipartBodies(String contentType) {
		HttpResponse<byte[]> response = post("/bytes", contentType, BodyPublishers.ofString("{}"));
		assertThat(response.statusCode()).isBetween(400, 500);
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void runOnceWhenTheyAreCompressed() throws IOException {
		ByteArrayOutputStream compressed = new ByteArrayOutputStream();
		try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
			gzip.write(new byte[100 * LIMIT]);
		}
		byte[] bomb = compressed.toByteArray();
		assertThat(application
			.send(request("/bytes", "application/json", BodyPublishers.ofByteArray(bomb))
				.header("Content-Encoding", "gzip")
				.build())
			.statusCode()).isEqualTo(200);
		assertRunsOnce("application/json", bomb);
	}

	@ParameterizedTest
	@ValueSource(strings = { "application/json", "text/plain", "application/x-www-form-urlencoded" })
	void areRefusedOverTheLimitIfChunked(String contentType) {
		HttpResponse<byte[]> refused = post("/bytes", contentType, chunked("a=" + "x".repeat(LIMIT)));
		assertThat(refused.statusCode()).isEqualTo(413);
		assertThat(text(refused)).contains("request-too-large");
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void mayHave10000FormFieldsAtMost() {
		HttpResponse<byte[]> response = post("/form", "application/x-www-form-urlencoded",
				BodyPublishers.ofString("item=coupon" + "&f=1".repeat(10_000)));
		assertThat(response.statusCode()).isBetween(400, 499);
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void doNotDelayOtherRequests() {
		String names = "\"" + "n".repeat(500_000) + "\":"
				+ IntStream.range(0, 40_000)
					.mapToObj("\"%06x\":1"::formatted)
					.collect(Collectors.joining(",", "{", "}"));
		List<CompletableFuture<HttpResponse<byte[]>>> attacks = IntStream
			.range(0, 2 * Runtime.getRuntime().availableProcessors())
			.mapToObj((i) -> application.postAsync("/ignoring", "{" + names + "}", "Idempotency-Key", this.key + i))
			.toList();
		HttpRequest.Builder other = request("/bytes", "text/plain", BodyPublishers.ofByteArray(new byte[20_000]));
		assertThat(application.send(other.timeout(Duration.ofMinutes(1)).build()).statusCode()).isEqualTo(200);
		assertThat(attacks)
			.allSatisfy((attack) -> assertThat(attack.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200));
	}

	private void assertRunsOnce(String contentType, byte[] body) {
		HttpResponse<byte[]> first = post("/bytes", contentType, BodyPublishers.ofByteArray(body));
		HttpResponse<byte[]> retry = post("/bytes", contentType, BodyPublishers.ofByteArray(body));
		assertThat(text(first)).isEqualTo(body.length + " bytes in run 1");
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private void assertEchoesNothing(HttpResponse<byte[]> refused) {
		assertThat(text(refused)).doesNotContain(this.key, "1111111", "[[", "\ufffd", "event");
	}

	private HttpResponse<byte[]> post(String path, String contentType, BodyPublisher body) {
		return application.send(request(path, contentType, body).build());
	}

	private HttpRequest.Builder request(String path, String contentType, BodyPublisher body) {
		return application.request(path)
			.header("Content-Type", contentType)
			.header("Idempotency-Key", this.key)
			.POST(body);
	}

	private static BodyPublisher chunked(String body) {
		return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)));
	}

	@RestController
	static class Handlers {

		private final Operations operations;

		Handlers(Operations operations) {
			this.operations = operations;
		}

		@PostMapping("/bytes")
		@Idempotent
		String count(@RequestBody(required = false) byte[] body) {
			return ((body != null) ? body.length : 0) + " bytes in " + this.operations.either();
		}

		@PostMapping("/ignoring")
		@Idempotent(ignore = "/requestedAt")
		String ignoring(@RequestBody byte[] body) {
			return body.length + " bytes in " + this.operations.either();
		}

		@PostMapping("/form")
		@Idempotent
		String form(@RequestParam String item) {
			return item + " in " + this.operations.either();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Handlers.class })
	static class Application {

	}

	/**
	 * Documents that are expensive or dangerous to parse, none over a megabyte.
	 */
	static final class HostileJson {

		private static final int MEGABYTE = 1024 * 1024;

		private HostileJson() {
		}

		/**
		 * The documents by their description.
		 */
		static Map<String, byte[]> documents() {
			Map<String, String> texts = new LinkedHashMap<>();
			texts.put("nothing", "");
			texts.put("white space", " ".repeat(MEGABYTE));
			texts.put("NUL", "\0");
			texts.put("an exponent of nine digits", "{\"event\":1e999999999}");
			texts.put("an exponent of a million digits", "{\"event\":1e" + "1".repeat(1_000_000) + "}");
			texts.put("a number of a million digits", "{\"event\":" + "1".repeat(1_000_000) + "}");
			texts.put("a million open arrays", "[".repeat(1_000_000));
			texts.put("200,000 open objects", "{\"a\":".repeat(200_000));
			texts.put("200,000 levels", "[".repeat(200_000) + "]".repeat(200_000));
			texts.put("a key twice", "{\"event\":1,\"event\":2}");
			texts.put("a lone surrogate", "{\"event\":\"\\ud800\"}");
			texts.put("a byte order mark", "\ufeff{\"event\":1}");
			texts.put("members in reverse order", members());
			texts.put("empty arrays", "[" + "[],".repeat(349_000) + "1]");
			texts.put("a string of escapes", "\"" + "\\u0000".repeat(174_000) + "\"");
			texts.put("an exponent that fits no int", "{\"event\":1e2147483648}");
			texts.put("names whose hashes collide", collidingNames());
			texts.put("an object cut short", "{\"event\":1,\"a\":[");
			Map<String, byte[]> documents = new LinkedHashMap<>();
			texts.forEach((name, text) -> documents.put(name, text.getBytes(StandardCharsets.UTF_8)));
			documents.put("invalid UTF-8", "{\"event\":\"\u00ff\u00c0\u00af\"}".getBytes(StandardCharsets.ISO_8859_1));
			return documents;
		}

		/**
		 * As many members as fit, all of which must be sorted.
		 */
		private static String members() {
			return IntStream.iterate(0xfffff, (name) -> name - 1)
				.limit(100_000)
				.mapToObj("\"%x\":1"::formatted)
				.collect(Collectors.joining(",", "{", "}"));
		}

		private static String collidingNames() {
			return IntStream.range(0, 1 << 14)
				.mapToObj((bits) -> IntStream.range(0, 14)
					.mapToObj((bit) -> ((bits >> bit & 1) == 0) ? "Ab" : "BA")
					.collect(Collectors.joining("", "\"", "\":0")))
				.collect(Collectors.joining(",", "{", "}"));
		}

	}

}
