package dev.idempotent.idempotency.web;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Reader;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RawConnection;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.mock.web.DelegatingServletInputStream;
import org.springframework.util.FileCopyUtils;
import org.springframework.util.MultiValueMap;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.multipart.MultipartFile;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Both the fingerprint and the handler read forms and uploads.
 */
class FormsIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		start(Application.class, container, "spring.servlet.multipart.max-file-size=2MB");
	}

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

	/**
	 * The container may have refused the request before its handler is known, which is no
	 * mistake of an interceptor.
	 */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsNoErrorIfAClientBreaksOffAnUpload(CapturedOutput output) throws IOException {
		try (RawConnection connection = RawConnection.to(application)) {
			String answer = connection
				.send("POST /upload HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + this.key
						+ "\r\nContent-Type: multipart/form-data; boundary=one\r\nContent-Length: 1000\r\n\r\n"
						+ "--one\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc")
				.end()
				.answer();
			assertThat(answer).doesNotContain(" 200 ", " run ");
		}
		assertThat(output).doesNotContain("an interceptor has begun");
		assertThat(upload("one", "bytes of a receipt").statusCode()).isEqualTo(200);
	}

	@Test
	void acceptsUploadsUpToTheMultipartLimitOfTheApplication() {
		assumeLimitsOfTomcat();
		assertThat(upload("one", "x".repeat(1_500_000)).statusCode()).isEqualTo(200);
		assertThat(upload("one", "x".repeat(2_500_000)).statusCode()).isEqualTo(413);
	}

	@Test
	void refusesAFormOverTheLimit() {
		assumeLimitsOfTomcat();
		assertThat(form("POST", "item=" + "x".repeat(1024 * 1024)).statusCode()).isEqualTo(413);
	}

	@Test
	void refusesAChunkedFormOverTheLimit() {
		assumeLimitsOfTomcat();
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
		assumeLimitsOfTomcat();
		HttpResponse<byte[]> response = form("POST", "item=coupon&amount=1" + "&f=1".repeat(20_000));
		assertThat(response.statusCode()).isBetween(400, 499);
		assertThat(form("POST", "item=coupon&amount=1").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "/read/stream, x-www-form-urlencoded", "/read/stream?in=url&item=, x-www-form-urlencoded",
			"/read/reader, x-www-form-urlencoded", "/read/text?in=url, x-www-form-urlencoded",
			"/read/bytes?in=url, x-www-form-urlencoded", "/read/fields?in=url, x-www-form-urlencoded",
			"/read/fields, X-WWW-Form-URLENCODED" })
	void letsTheHandlerReadAForm(String path, String type) {
		HttpResponse<byte[]> first = send("POST", path, "application/" + type, "item=%C3%A4+~&amount=1&item=");
		assertThat(text(first)).isEqualTo("item=%C3%A4+%7E&item=&amount=1");
		assertThat(isReplay(send("POST", path, "application/" + type, "amount=1&item=%c3%a4%20~&item="))).isTrue();
		assertThat(send("POST", path, "application/" + type, "amount=2&item=%C3%A4+~&item=").statusCode())
			.isEqualTo(422);
	}

	@ParameterizedTest
	@CsvSource({ "/signed, application/x-www-form-urlencoded", "/read/stream, application/*" })
	void comparesAFormThatTheContainerDoesNotParse(String path, String type) {
		assertThat(text(send("POST", path, type, "item=coupon&amount=1"))).isEqualTo("item=coupon&amount=1");
		assertThat(isReplay(send("POST", path, type, "item=coupon&amount=1"))).isTrue();
		assertThat(send("POST", path, type, "item=coupon&amount=999").statusCode()).isEqualTo(422);
	}

	@ParameterizedTest
	@CsvSource({ "application/json, 500", "application/x-www-form-urlencoded, 500",
			"multipart/form-data; boundary=b, 400" })
	void refusesABodyThatAnotherFilterHasKept(String type, int status) {
		// Spring MVC parses a multipart body before it knows the handler.
		HttpRequest request = request("POST", "/kept?in=url", type, "{\"a\":1}");
		assertThat(application.sendAlone(request).statusCode())
			.isEqualTo(this.container.equals("jetty") ? 500 : status);
	}

	@Test
	void comparesParametersOfAnotherFilter() {
		assertThat(tenant("a").statusCode()).isEqualTo(200);
		assertThat(isReplay(tenant("a"))).isTrue();
		assertThat(tenant("b").statusCode()).isEqualTo(422);
	}

	@ParameterizedTest
	@ValueSource(strings = { "account", "item" })
	void comparesParametersThatAnotherFilterAddsToAnUpload(String parameter) {
		assertThat(upload("one", parameter, "a").statusCode()).isEqualTo(200);
		assertThat(isReplay(upload("two", parameter, "a"))).isTrue();
		assertThat(upload("one", parameter, "b").statusCode()).isEqualTo(422);
	}

	private HttpResponse<byte[]> upload(String boundary, String parameter, String value) {
		return application.send(application.request("/upload")
			.header("Content-Type", "multipart/form-data; boundary=" + boundary)
			.header("Idempotency-Key", this.key)
			.header("X-Parameter", parameter + "=" + value)
			.POST(BodyPublishers.ofString(receipt(boundary, "bytes")))
			.build());
	}

	private HttpResponse<byte[]> tenant(String name) {
		return application.send(application.request("/tenants?tenant=none")
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", this.key)
			.header("X-Tenant", name)
			.POST(BodyPublishers.ofString("{}"))
			.build());
	}

	/**
	 * Jetty has others, and closes the connection of what is too large.
	 */
	private void assumeLimitsOfTomcat() {
		assumeThat(this.container).isEqualTo("tomcat");
	}

	private HttpResponse<byte[]> form(String method, String body) {
		return send(method, "/form", "application/x-www-form-urlencoded", body);
	}

	private HttpResponse<byte[]> upload(String boundary, String content) {
		return send("POST", "/upload", "multipart/form-data; boundary=" + boundary, receipt(boundary, content));
	}

	private static String receipt(String boundary, String content) {
		return """
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
	}

	private HttpResponse<byte[]> send(String method, String path, String contentType, String body) {
		return application.send(request(method, path, contentType, body));
	}

	private HttpRequest request(String method, String path, String contentType, String body) {
		return application.request(path)
			.header("Content-Type", contentType)
			.header("Idempotency-Key", this.key)
			.method(method, BodyPublishers.ofString(body))
			.build();
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

		@PostMapping({ "/read/stream", "/signed", "/kept", "/tenants" })
		@Idempotent
		String readStream(HttpServletRequest request) throws IOException {
			return StreamUtils.copyToString(request.getInputStream(), StandardCharsets.UTF_8);
		}

		@PostMapping("/read/reader")
		@Idempotent
		String readReader(Reader body) throws IOException {
			return FileCopyUtils.copyToString(body);
		}

		@PostMapping("/read/text")
		@Idempotent
		String readText(@RequestBody String body) {
			return body;
		}

		@PostMapping("/read/bytes")
		@Idempotent
		String readBytes(@RequestBody byte[] body) {
			return new String(body, StandardCharsets.UTF_8);
		}

		@PostMapping("/read/fields")
		@Idempotent
		String readFields(@RequestBody MultiValueMap<String, String> body) {
			StringJoiner fields = new StringJoiner("&");
			body.forEach((name, values) -> values
				.forEach((value) -> fields.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8))));
			return fields.toString();
		}

		@PostMapping("/upload")
		@Idempotent
		String upload(@RequestParam String item, @RequestParam MultipartFile file) throws IOException {
			String start = new String(file.getBytes(), 0, (int) Math.min(20, file.getSize()), "US-ASCII");
			return file.getOriginalFilename() + " for " + item + ": " + start + " run " + this.runs.incrementAndGet();
		}

	}

	/**
	 * Keeps the body, which others can read again, as a filter that verifies a signature
	 * does.
	 */
	static class Signatures extends OncePerRequestFilter {

		@Override
		protected boolean shouldNotFilter(HttpServletRequest request) {
			return !List.of("/signed", "/kept", "/tenants").contains(request.getRequestURI());
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			byte[] body = request.getInputStream().readAllBytes();
			chain.doFilter(request.getRequestURI().equals("/kept") ? request : new HttpServletRequestWrapper(request) {

				@Override
				public ServletInputStream getInputStream() {
					return new DelegatingServletInputStream(new ByteArrayInputStream(body));
				}

				@Override
				public Map<String, String[]> getParameterMap() {
					Map<String, String[]> all = new HashMap<>(super.getParameterMap());
					Optional.ofNullable(getHeader("X-Tenant"))
						.ifPresent((name) -> all.put("tenant", new String[] { name }));
					return all;
				}

			}, response);
		}

	}

	/**
	 * Sets a parameter.
	 */
	static class Parameters extends OncePerRequestFilter {

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String[] set = Objects.requireNonNullElse(request.getHeader("X-Parameter"), "").split("=", 2);
			chain.doFilter((set.length < 2) ? request : new HttpServletRequestWrapper(request) {

				@Override
				public String[] getParameterValues(String name) {
					return name.equals(set[0]) ? new String[] { set[1] } : super.getParameterValues(name);
				}

				@Override
				public Map<String, String[]> getParameterMap() {
					Map<String, String[]> all = new HashMap<>(super.getParameterMap());
					all.put(set[0], new String[] { set[1] });
					return all;
				}

			}, response);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Handlers.class, Parameters.class })
	static class Application {

		@Bean
		FilterRegistrationBean<Signatures> signatures() {
			FilterRegistrationBean<Signatures> registration = new FilterRegistrationBean<>(new Signatures());
			registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return registration;
		}

	}

}
