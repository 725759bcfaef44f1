package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.UUID;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RawConnection;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An annotated handler never runs without a key, for any spelling of its URL and method.
 */
class UrlSpellingsIntegrationTests {

	private static final String[] SPELLINGS = { "/short", "/short;x=1", "/%73hort", "/%73%68%6F%72%74", "/short/",
			"//short", "/./short", "/../short", "/short/.", "/x/../short", "/x/%2e%2e/short", "/%2Fshort", "/short%2F",
			"/short%3Bx", "/short;", "/;/short", "/short%00", "/short%", "/short%zz", "/short%C0%AF", "/short\u00e9",
			"/short%20", "/short.json", "/short\\", "/short?", "/short#x", "/SHORT", "/short//", "*",
			"http://localhost/short", "http://other/short" };

	private static final String[] METHODS = { "POST", "post", "Post", "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "PATCH",
			"FOO" };

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@ParameterizedTest
	@ValueSource(strings = { "server.servlet.context-path=/", "server.servlet.context-path=/shop",
			"server.servlet.context-path=/sh%6Fp", "spring.mvc.servlet.path=/api" })
	void protectTheHandlerInEverySpelling(String property) throws IOException {
		String path = property.substring(property.indexOf('=') + 1);
		String prefix = path.equals("/") ? "" : path;
		try (WebApplication application = WebApplication.start(Application.class, redis, property)) {
			for (String spelling : SPELLINGS) {
				assertRunsOnceOrNever(application, "POST", spelling.startsWith("/") ? prefix + spelling : spelling);
			}
			for (String method : METHODS) {
				assertRunsOnceOrNever(application, method, prefix + "/short");
				assertRunsOnceOrNever(application, method, prefix + "/any");
				assertRunsOnceOrNever(application, method, prefix + "/page/1;x=2");
			}
		}
	}

	@Test
	void protectTheHandlerOfAnOverriddenMethod() throws IOException {
		try (WebApplication application = WebApplication.start(Application.class, redis,
				"spring.mvc.hiddenmethod.filter.enabled=true")) {
			assertRunsOnceOrNever(application, "POST", "/put?_method=PUT");
			assertRunsOnceOrNever(application, "POST", "/put?_method=put");
			assertThat(application.bean(Operations.class).runs()).isOne();
		}
	}

	private static void assertRunsOnceOrNever(WebApplication application, String method, String url)
			throws IOException {
		Operations operations = application.bean(Operations.class);
		operations.reset();
		send(application, method, url, "");
		assertThat(operations.runs()).as("runs of %s %s without a key", method, url).isZero();
		String key = "Idempotency-Key: " + UUID.randomUUID() + "\r\n";
		String first = send(application, method, url, key);
		String retry = send(application, method, url, key);
		assertThat(operations.runs()).as("runs of %s %s with one key", method, url)
			.isEqualTo(retry.contains("Idempotent-Replayed: true") ? 1 : 0);
		assertThat(first + retry).doesNotContain("HTTP/1.1 500");
	}

	private static String send(WebApplication application, String method, String url, String headers)
			throws IOException {
		try (RawConnection connection = RawConnection.to(application)) {
			return connection
				.send(method + ' ' + url + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
						+ "Content-Type: application/x-www-form-urlencoded\r\n" + headers + "Content-Length: 0\r\n\r\n")
				.answer();
		}
	}

	@RestController
	static class Handlers {

		private final Operations operations;

		Handlers(Operations operations) {
			this.operations = operations;
		}

		@RequestMapping("/any")
		@Idempotent
		String any() {
			return this.operations.either();
		}

		@GetMapping("/page/{number}")
		@Idempotent
		String page(@PathVariable int number) {
			return number + this.operations.either();
		}

		@PutMapping("/put")
		@Idempotent
		String put() {
			return this.operations.either();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Handlers.class })
	static class Application {

	}

}
