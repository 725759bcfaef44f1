package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.RawConnection;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Headers that decide the work of a handler, because it includes them, or because they
 * select a part of its response.
 */
class IncludedHeadersIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(Application.class, redis, "idempotent.namespace=included"))
		.resetting(Accounts.class, Accounts::reset);

	private String key = UUID.randomUUID().toString();

	@Test
	void areComparedWithTheFirstRequest() {
		assertThat(text(pay("X-Account", "1"))).isEqualTo("run 1 of 1");
		assertProblem(pay("X-Account", "2"), "key-reused");
		assertProblem(pay("X-Other", "1"), "key-reused");
		assertProblem(pay("X-Account", ""), "key-reused");
		assertProblem(pay("X-Account", "1", "X-Account", "2"), "key-reused");
		assertThat(text(pay("x-account", "1", "X-Other", "2"))).isEqualTo("run 1 of 1");
		assertThat(application.bean(Accounts.class).runs()).isOne();
	}

	@Test
	void areThoseThatAFilterSets() {
		assertThat(text(pay("X-Login", "ada"))).isEqualTo("run 1 of null for account of ada");
		assertProblem(pay("X-Login", "bob"), "key-reused");
		assertProblem(pay("X-Account", "account of ada"), "key-reused");
		assertProblem(pay("X-Login", "ada", "X-Account", "1"), "key-reused");
		assertThat(text(pay("X-Login", "ada"))).isEqualTo("run 1 of null for account of ada");
	}

	@Test
	void differIfMissingFromAnEmptyOne() {
		assertThat(text(pay("X-Other", "1"))).isEqualTo("run 1 of null");
		assertProblem(pay("X-Account", ""), "key-reused");
		assertThat(text(pay("X-Other", "2"))).isEqualTo("run 1 of null");
	}

	@Test
	void keepTheOrderOfTheirValues() {
		HttpResponse<byte[]> first = pay("X-Account", "1", "X-Account", "2");
		assertThat(first.statusCode()).isEqualTo(200);
		assertProblem(pay("X-Account", "2", "X-Account", "1"), "key-reused");
		assertThat(text(pay("X-Account", "1", "X-Account", "2"))).isEqualTo(text(first));
	}

	@Test
	void areTheHostThatTheClientHasAddressed() {
		assertThat(pay("X-Forwarded-Host", "a.example.com").statusCode()).isEqualTo(200);
		assertProblem(pay("X-Forwarded-Host", "b.example.com"), "key-reused");
		assertThat(pay("X-Forwarded-Host", "A.example.com:8443").statusCode()).isEqualTo(200);
		assertThat(application.bean(Accounts.class).runs()).isOne();
	}

	@Test
	void areAnyHostAsSent() throws IOException {
		for (String host : new String[] { "a", "10.0.0.1", "[::1]", "localhost", "www.example.com" }) {
			this.key = UUID.randomUUID().toString();
			assertThat(payAt(host)).as(host).contains(" of null");
			assertThat(payAt(host.toUpperCase(Locale.ROOT) + ":8443")).as(host).contains("Idempotent-Replayed: true");
			assertThat(payAt("b:8443")).as(host).contains(" 422 ");
		}
	}

	@Test
	void areAnyHostThatWasForwarded() throws IOException {
		assertThat(payAt("instance-1", "X-Forwarded-Host: a")).contains(" of null");
		assertThat(payAt("instance-2", "X-Forwarded-Host: A:8443")).contains("Idempotent-Replayed: true");
		assertThat(payAt("instance-1", "X-Forwarded-Host: b")).contains(" 422 ");
		assertThat(payAt("www.example.com", "X-Forwarded-Host: a")).contains(" 422 ");
	}

	private String payAt(String... headers) throws IOException {
		try (RawConnection connection = RawConnection.to(application)) {
			return connection
				.send("POST /pay HTTP/1.1\r\nHost: " + String.join("\r\n", headers) + "\r\nIdempotency-Key: " + this.key
						+ "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
				.answer();
		}
	}

	@Test
	void arePartOfKeysThatAreTheFingerprint() {
		String body = '"' + this.key + '"';
		assertThat(text(application.post("/equal", body, "X-Account", "1"))).isEqualTo("run 1 of 1");
		assertThat(text(application.post("/equal", body, "X-Account", "2"))).isEqualTo("run 2 of 2");
		assertThat(text(application.post("/equal", body, "X-Account", "1"))).isEqualTo("run 1 of 1");
	}

	@Test
	void areThoseOfAPartOfTheResponse() {
		HttpResponse<byte[]> part = report("Range", "bytes=0-2");
		assertThat(part.statusCode()).isEqualTo(206);
		assertThat(text(part)).isEqualTo("012");
		assertProblem(report("X-Other", "1"), "key-reused");
		assertProblem(report("Range", "bytes=3-4"), "key-reused");
		assertProblem(report("Range", "bytes=0-2", "If-Range", "\"1\""), "key-reused");
		HttpResponse<byte[]> retry = report("Range", "bytes=0-2");
		assertThat(retry.statusCode()).isEqualTo(206);
		assertThat(text(retry)).isEqualTo("012");
	}

	private HttpResponse<byte[]> pay(String... headers) {
		return post("/pay", headers);
	}

	private HttpResponse<byte[]> report(String... headers) {
		return post("/report", headers);
	}

	private HttpResponse<byte[]> post(String path, String... headers) {
		return application.send(application.request(path)
			.header("Idempotency-Key", this.key)
			.header("Content-Type", "application/json")
			.headers(headers)
			.POST(BodyPublishers.ofString("{}"))
			.build());
	}

	@RestController
	static class Accounts {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		void reset() {
			this.runs.set(0);
		}

		@PostMapping("/pay")
		@Idempotent(include = { "X-Account", "host" })
		String pay(@RequestHeader(name = "X-Account", required = false) @Nullable String account,
				HttpServletRequest request) {
			String login = request.getHeader("X-Login");
			return equal(account) + ((login != null) ? " for " + request.getHeader("X-Account") : "");
		}

		@PostMapping("/equal")
		@Idempotent(from = KeySource.FINGERPRINT, name = "equal", retention = "1m", include = "X-Account")
		String equal(@RequestHeader("X-Account") @Nullable String account) {
			return "run " + this.runs.incrementAndGet() + " of " + account;
		}

		@PostMapping("/report")
		@Idempotent
		Resource report() {
			this.runs.incrementAndGet();
			return new ByteArrayResource("0123456789".getBytes(StandardCharsets.US_ASCII));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Accounts.class)
	static class Application {

		@Bean
		IdempotencyScopeResolver scopeResolver() {
			return (request) -> "caller";
		}

		/**
		 * As many do, it overrides one of the methods that return headers.
		 */
		@Bean
		FilterRegistrationBean<Filter> logins() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				String login = ((HttpServletRequest) request).getHeader("X-Login");
				chain.doFilter((login == null) ? request : new HttpServletRequestWrapper((HttpServletRequest) request) {

					@Override
					public String getHeader(String name) {
						return name.equalsIgnoreCase("X-Account") ? "account of " + login : super.getHeader(name);
					}

				}, response);
			});
		}

	}

}
