package dev.idempotent.idempotency.web;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Bodies of which nothing is left, because a filter has read them before. Two of them
 * must not look like the same request.
 */
class DrainedBodiesIntegrationTests {

	private static final int LENGTH = "amount=1".length();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication onTomcat = on("tomcat");

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication onJetty = on("jetty");

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@CsvSource({ "tomcat, /drained", "tomcat, /parsed", "jetty, /drained", "jetty, /parsed" })
	void areRefused(String container, String path) throws Exception {
		for (String type : new String[] { "application/json", "text/plain", "application/x-www-form-urlencoded",
				"multipart/form-data; boundary=b" }) {
			for (BodyPublisher body : new BodyPublisher[] { BodyPublishers.ofString("amount=1"), chunked("amount=1"),
					chunked("amount=9") }) {
				HttpResponse<byte[]> refused = send(container, HttpClient.Version.HTTP_1_1, "POST", path, type, body);
				// Spring MVC parses a multipart body before it knows the handler.
				assertThat(refused.statusCode()).as(type)
					.isEqualTo((type.startsWith("multipart") && container.equals("tomcat")) ? 400 : 500);
			}
		}
		assertThat(runs(container)).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/drained", "/parsed" })
	void areRefusedOverHttp2(String path) throws Exception {
		for (String amount : new String[] { "amount=1", "amount=9" }) {
			HttpResponse<byte[]> refused = send("tomcat", HttpClient.Version.HTTP_2, "POST", path, "application/json",
					chunked(amount));
			assertThat(refused.version()).isEqualTo(HttpClient.Version.HTTP_2);
			assertThat(refused.statusCode()).isEqualTo(500);
		}
		assertThat(runs("tomcat")).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "tomcat, HTTP_1_1, POST", "tomcat, HTTP_1_1, DELETE", "tomcat, HTTP_2, POST", "tomcat, HTTP_2, DELETE",
			"jetty, HTTP_1_1, POST", "jetty, HTTP_1_1, DELETE" })
	void areNotThoseThatAreEmpty(String container, HttpClient.Version version, String method) throws Exception {
		for (String path : new String[] { "/untouched", "/drained" }) {
			for (BodyPublisher empty : new BodyPublisher[] { BodyPublishers.noBody(), chunked("") }) {
				HttpResponse<byte[]> first = send(container, version, method, path, "application/json", empty);
				assertThat(first.statusCode()).as(path).isEqualTo(200);
				assertThat(first.version()).isEqualTo(version);
				assertThat(text(first)).isEqualTo("run " + runs(container));
			}
			assertThat(runs(container)).isOne();
			application(container).bean(Handlers.class).reset();
		}
	}

	@Test
	void areNotThoseThatNobodyHasRead() throws Exception {
		for (HttpClient.Version version : HttpClient.Version.values()) {
			String path = "/untouched?version=" + version;
			HttpResponse<byte[]> first = send("tomcat", version, "PUT", path, "application/json", chunked("{}"));
			assertThat(first.statusCode()).isEqualTo(200);
			assertThat(send("tomcat", version, "PUT", path, "application/json", chunked("[]")).statusCode())
				.isEqualTo(422);
		}
	}

	private static BodyPublisher chunked(String body) {
		return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)));
	}

	/**
	 * Each path and version has a key of its own.
	 */
	private HttpResponse<byte[]> send(String container, HttpClient.Version version, String method, String path,
			String type, BodyPublisher body) throws Exception {
		URI url = application(container).request(path).build().uri();
		HttpClient client = HttpClient.newBuilder().version(version).build();
		if (version == HttpClient.Version.HTTP_2) {
			// The client upgrades its connection with a request that has no body.
			client.send(HttpRequest.newBuilder(url.resolve("/none")).build(), BodyHandlers.discarding());
		}
		return client.send(HttpRequest.newBuilder(url)
			.header("Content-Type", type)
			.header("Idempotency-Key", this.key + path.hashCode())
			.method(method, body)
			.build(), BodyHandlers.ofByteArray());
	}

	private static int runs(String container) {
		return application(container).bean(Handlers.class).runs();
	}

	private static RunningApplication application(String container) {
		return container.equals("jetty") ? onJetty : onTomcat;
	}

	private static RunningApplication on(String container) {
		return RunningApplication
			.of(() -> WebApplication.start(Application.class, redis, "test.container=" + container,
					"server.http2.enabled=" + container.equals("tomcat"), "idempotent.namespace=drained-" + container))
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

		@RequestMapping({ "/drained", "/parsed", "/untouched" })
		@Idempotent
		String handle() {
			return "run " + this.runs.incrementAndGet();
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

		@Bean
		FilterRegistrationBean<Filter> readers() {
			FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
				read((HttpServletRequest) request);
				chain.doFilter(request, response);
			});
			registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return registration;
		}

		/**
		 * A parser may know where a document ends, and not read on.
		 */
		private static void read(HttpServletRequest request) throws IOException {
			switch (request.getRequestURI()) {
				case "/drained" -> request.getInputStream().readAllBytes();
				case "/parsed" -> request.getInputStream().readNBytes(LENGTH);
				default -> {
				}
			}
		}

	}

}
