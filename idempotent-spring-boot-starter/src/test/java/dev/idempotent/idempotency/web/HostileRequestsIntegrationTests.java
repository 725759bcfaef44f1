package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RawConnection;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

/**
 * Requests that violate HTTP, over a raw connection.
 */
class HostileRequestsIntegrationTests {

	private static final String ORDER = "{\"item\":\"coupon\",\"amount\":1}";

	private static final String START = """
			POST /orders HTTP/1.1\r
			Host: localhost\r
			Connection: close\r
			Content-Type: application/json\r
			""";

	private static final int TEN_MEGABYTES = 10 * 1024 * 1024;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, "server.tomcat.connection-timeout=4s",
				"server.tomcat.keep-alive-timeout=60s"))
		.resetting(Operations.class, Operations::reset);

	private final Operations operations = application.bean(Operations.class);

	private final String key = UUID.randomUUID().toString();

	@Test
	void areRefusedByTheirContentLengthBeforeTheBodyIsSent() throws IOException {
		String answer = answer(head("Content-Length: " + TEN_MEGABYTES));
		assertThat(answer).startsWith("HTTP/1.1 413 ").contains("request-too-large");
	}

	@Test
	void areRefusedOnceTheirChunksExceedTheLimit() throws IOException {
		String answer = answer(head("Transfer-Encoding: chunked") + Integer.toHexString(TEN_MEGABYTES) + "\r\n"
				+ "x".repeat(1024 * 1024 + 8192));
		assertThat(answer).startsWith("HTTP/1.1 413 ").contains("request-too-large");
	}

	@Test
	void claimNothingAndDelayNoOthersWhileTheirBodyIsSent() throws IOException {
		try (RawConnection slow = RawConnection.to(application)) {
			slow.send(head("Content-Length: " + ORDER.length()) + ORDER.substring(0, 10));
			assertRunsOnceWith(this.key);
			assertThat(slow.answer()).doesNotContain(" 200 ", " 201 ", " 500 ", this.key, "coupon");
		}
		assertThat(this.operations.runs()).isOne();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Content-Length: 29", "Transfer-Encoding: chunked" })
	void neverRunWithHalfABody(String framing) throws IOException {
		try (RawConnection connection = RawConnection.to(application)) {
			String half = framing.startsWith("T") ? "1c\r\n" + ORDER.substring(0, 10) : ORDER.substring(0, 10);
			String answer = connection.send(head(framing) + half).end().answer();
			assertThat(answer).doesNotContain(" 200 ", " 201 ", " 500 ", this.key, "coupon");
		}
		assertThat(this.operations.runs()).isZero();
		assertRunsOnceWith(this.key);
	}

	static Stream<Object> brokenFraming() {
		return Stream.of(argumentSet("a length that is no number", "Content-Length: many\r\n\r\n{}"),
				argumentSet("a negative length", "Content-Length: -1\r\n\r\n{}"),
				argumentSet("a length that fits no long", "Content-Length: 99999999999999999999\r\n\r\n{}"),
				argumentSet("two lengths", "Content-Length: 2\r\nContent-Length: 28\r\n\r\n" + ORDER),
				argumentSet("a length and chunks",
						"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + ORDER),
				argumentSet("a chunk that has no size", "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + ORDER),
				argumentSet("a coding that nobody knows", "Transfer-Encoding: nonsense\r\n\r\n" + ORDER),
				argumentSet("a body cut by its length", "Content-Length: 5\r\n\r\n" + ORDER));
	}

	@ParameterizedTest
	@MethodSource("brokenFraming")
	void neverRunIfTheirFramingIsBroken(String rest) throws IOException {
		String answer = answer(START + "Idempotency-Key: " + this.key + "\r\n" + rest);
		assertThat(answer).matches("(?s)HTTP/1\\.1 (4\\d\\d|501) .*").doesNotContain(this.key, "coupon");
		assertThat(this.operations.runs()).isZero();
		assertRunsOnceWith(this.key);
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\u0000b", "a\u0001b", "a\u007fb", "a\rb", "a\nb", "a\r\n b", "\"a\r\n\tb\"", "cl\u00e9",
			"\u00e2\u0082\u00ac", "a\u0085b", "a b", "a,b c", "" })
	void areRefusedWithAMalformedKey(String hostile) throws IOException {
		String answer = answer(withKey(hostile));
		assertThat(answer).startsWith("HTTP/1.1 400 ").doesNotContain("coupon");
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void areRefusedIfTheirKeyHas64Kilobytes() throws IOException {
		assertThat(answer(withKey("k".repeat(65_536)))).startsWith("HTTP/1.1 400 ").doesNotContain("kkk");
		assertThat(this.operations.runs()).isZero();
	}

	@Test
	void neverAccessOtherDataInRedis() {
		LettuceConnectionFactory client = redis.connect();
		try (RedisConnection connection = client.getConnection()) {
			assertRunsOnceWith(this.key);
			byte[] record = connection.keyCommands()
				.keys("idempotency:*".getBytes(StandardCharsets.UTF_8))
				.iterator()
				.next();
			connection.stringCommands()
				.set(this.key.getBytes(StandardCharsets.UTF_8),
						"of another application".getBytes(StandardCharsets.UTF_8));
			String name = new String(record, StandardCharsets.UTF_8);
			for (String hostile : new String[] { name, name.substring(name.lastIndexOf(':') + 1), '{' + this.key + '}',
					this.key + "*", "idempotency:*", this.key + "\\" }) {
				this.operations.reset();
				assertRunsOnceWith(hostile);
			}
			assertThat(connection.stringCommands().get(this.key.getBytes(StandardCharsets.UTF_8))).asString()
				.isEqualTo("of another application");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "a\\r\\nSet-Cookie: evil=1", "a\\n\\n<html>", "\\u0000", "\\u0100\\u010d\\u010a", "a\\tb",
			"\u00e9" })
	void neverSplitAReplayedResponse(String injected) {
		String body = "{\"value\":\"" + injected + "\"}";
		HttpResponse<byte[]> first = application.post("/reflected", body, "Idempotency-Key", this.key);
		HttpResponse<byte[]> retry = application.post("/reflected", body, "Idempotency-Key", this.key);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(retry.headers().firstValue("Set-Cookie")).isEmpty();
		assertThat(retry.headers().allValues("X-Reflected")).isEqualTo(first.headers().allValues("X-Reflected"));
		assertThat(text(retry)).isEqualTo(text(first)).isEqualTo("run 1");
	}

	@Test
	void mayHaveAsManyParametersAsFitInTheirHead() {
		String path = "/answers/200?" + "&x".repeat(3_000);
		assertThat(text(application.post(path, "", "Idempotency-Key", this.key))).isEqualTo("run 1");
		assertThat(text(application.post(path, "", "Idempotency-Key", this.key))).isEqualTo("run 1");
		assertThat(
				application.post("/answers/200?" + "&x".repeat(10_000), "", "Idempotency-Key", this.key).statusCode())
			.isBetween(400, 499);
		assertThat(this.operations.runs()).isOne();
	}

	private void assertRunsOnceWith(String key) {
		HttpResponse<byte[]> first = application.post("/orders", ORDER, "Idempotency-Key", key);
		HttpResponse<byte[]> retry = application.post("/orders", ORDER, "Idempotency-Key", key);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(this.operations.runs()).isOne();
	}

	private static String answer(String request) throws IOException {
		try (RawConnection connection = RawConnection.to(application)) {
			return connection.send(request).answer();
		}
	}

	private String head(String framing) {
		return START + "Idempotency-Key: " + this.key + "\r\n" + framing + "\r\n\r\n";
	}

	private static String withKey(String key) {
		return START + "Idempotency-Key: " + key + "\r\nContent-Length: " + ORDER.length() + "\r\n\r\n" + ORDER;
	}

	@RestController
	static class Reflection {

		private final Operations operations;

		Reflection(Operations operations) {
			this.operations = operations;
		}

		@PostMapping("/reflected")
		@Idempotent
		ResponseEntity<String> reflect(@RequestBody Reflected body) {
			return ResponseEntity.ok().header("X-Reflected", body.value()).body(this.operations.either());
		}

	}

	record Reflected(String value) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Reflection.class })
	static class Application {

	}

}
