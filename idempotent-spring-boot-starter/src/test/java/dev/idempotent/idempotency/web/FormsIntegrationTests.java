package dev.idempotent.idempotency.web;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
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
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Both the fingerprint and the handler read forms and uploads.
 */
class FormsIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, "spring.servlet.multipart.max-file-size=2MB"));

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@ValueSource(strings = { "POST", "PUT", "PATCH", "DELETE" })
	void replaysAFormSentByAnyMethod(String method) {
		HttpResponse<byte[]> first = form(method, "item=coupon&amount=1");
		HttpResponse<byte[]> retry = form(method, "amount=1&item=%63oupon");
		assertThat(text(first)).startsWith("coupon x1 ");
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(form(method, "item=coupon&amount=2").statusCode()).isEqualTo(422);
	}

	@ParameterizedTest
	@ValueSource(strings = { "PUT", "PATCH", "DELETE" })
	void replaysAJsonBodySentByAnyMethod(String method) {
		HttpResponse<byte[]> first = send(method, "/json", "application/json", "{\"a\":1}");
		HttpResponse<byte[]> retry = send(method, "/json", "application/json", "{\"a\":1.0}");
		assertThat(text(first)).startsWith("1 ");
		assertThat(retry.body()).isEqualTo(first.body());
	}

	@Test
	void replaysAnUploadWithAnotherBoundary() {
		HttpResponse<byte[]> first = upload("one", "bytes of a receipt");
		HttpResponse<byte[]> retry = upload("two", "bytes of a receipt");
		assertThat(text(first)).startsWith("receipt.png for coupon: bytes of a receipt");
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(upload("one", "other bytes").statusCode()).isEqualTo(422);
	}

	@Test
	void acceptsUploadsUpToTheMultipartLimitOfTheApplication() {
		assertThat(upload("one", "x".repeat(1_500_000)).statusCode()).isEqualTo(200);
		HttpResponse<byte[]> tooLarge = upload("one", "x".repeat(2_500_000));
		assertThat(tooLarge.statusCode()).isEqualTo(413);
		assertThat(text(tooLarge)).contains("request-too-large");
	}

	@Test
	void refusesAMultipartBodyThatCannotBeRead() {
		HttpResponse<byte[]> response = send("POST", "/upload", "multipart/form-data", "no boundary");
		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(text(response)).contains("request-malformed");
	}

	@Test
	void refusesAFormOverTheLimit() {
		assertThat(form("POST", "item=" + "x".repeat(1024 * 1024)).statusCode()).isEqualTo(413);
	}

	@Test
	void refusesAChunkedFormOverTheLimit() {
		byte[] form = ("item=" + "x".repeat(1024 * 1024)).getBytes(StandardCharsets.US_ASCII);
		HttpRequest request = application.request("/form")
			.header("Content-Type", "application/x-www-form-urlencoded")
			.header("Idempotency-Key", this.key)
			.POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(form)))
			.build();
		assertThat(application.send(request).statusCode()).isEqualTo(413);
	}

	@Test
	void survivesAFormWithMoreFieldsThanTheContainerAccepts() {
		HttpResponse<byte[]> response = form("POST", "item=coupon&amount=1" + "&f=1".repeat(20_000));
		assertThat(response.statusCode()).isBetween(400, 499);
		assertThat(form("POST", "item=coupon&amount=1").statusCode()).isEqualTo(200);
	}

	private HttpResponse<byte[]> form(String method, String body) {
		return send(method, "/form", "application/x-www-form-urlencoded", body);
	}

	private HttpResponse<byte[]> upload(String boundary, String content) {
		String body = """
				--%1$s\r
				Content-Disposition: form-data; name="item"\r
				\r
				coupon\r
				--%1$s\r
				Content-Disposition: form-data; name="file"; filename="receipt.png"\r
				Content-Type: image/png\r
				\r
				%2$s\r
				--%1$s--\r
				""".formatted(boundary, content);
		return send("POST", "/upload", "multipart/form-data; boundary=" + boundary, body);
	}

	private HttpResponse<byte[]> send(String method, String path, String contentType, String body) {
		HttpRequest request = application.request(path)
			.header("Content-Type", contentType)
			.header("Idempotency-Key", this.key)
			.method(method, BodyPublishers.ofString(body))
			.build();
		return application.send(request);
	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		@RequestMapping("/form")
		@Idempotent
		String form(@RequestParam String item, @RequestParam int amount) {
			return item + " x" + amount + " run " + this.runs.incrementAndGet();
		}

		@RequestMapping("/json")
		@Idempotent
		String json(@RequestBody Map<String, Object> body) {
			return body.get("a") + " run " + this.runs.incrementAndGet();
		}

		@PostMapping("/upload")
		@Idempotent
		String upload(@RequestParam String item, @RequestParam MultipartFile file) throws IOException {
			String start = new String(file.getBytes(), 0, (int) Math.min(20, file.getSize()), "US-ASCII");
			return file.getOriginalFilename() + " for " + item + ": " + start + " run " + this.runs.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application {

	}

}
