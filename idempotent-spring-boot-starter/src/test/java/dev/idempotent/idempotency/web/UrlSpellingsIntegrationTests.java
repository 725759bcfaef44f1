package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.EnumSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RawConnection;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.UrlHandlerFilter;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An annotated handler never runs without a key, for any spelling of its URL and method,
 * or if another filter rewrites its URL: before this library's filter in the place that
 * Boot gives to a filter without an order, and behind it if it is registered for that.
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

	private final String key = UUID.randomUUID().toString();

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

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void protectTheHandlerOfAUrlThatAnotherFilterRewrites(CapturedOutput output) {
		try (WebApplication application = WebApplication.start(RewritingApplication.class, redis)) {
			assertThat(output).containsOnlyOnce("The filters [behind] may run after the idempotency filter");
			assertThat(application.post("/short/", "").statusCode()).isEqualTo(400);
			assertThat(application.post("/long", "").statusCode()).isEqualTo(400);
			assertThat(application.post("/forwarded", "").statusCode()).isEqualTo(500);
			assertThat(application.post("/forwarded/final", "").statusCode()).isEqualTo(500);
			assertThat(application.bean(Unproxied.class).runs).hasValue(0);
			assertThat(application.post("/final", "").statusCode()).isEqualTo(400);
			assertThat(application.bean(Operations.class).runs()).isZero();
			assertThat(application.post("/short/", "", "Idempotency-Key", this.key).statusCode()).isEqualTo(200);
			assertThat(application.post("/called", "").statusCode()).isEqualTo(500);
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

	@Controller
	static class Callers {

		private final Operations operations;

		Callers(Operations operations) {
			this.operations = operations;
		}

		@PostMapping("/forwarded")
		String forward() {
			return "forward:/short";
		}

		@PostMapping("/forwarded/final")
		String forwardToUnproxied() {
			return "forward:/final";
		}

		@PostMapping("/called")
		@ResponseBody
		String call() {
			return this.operations.runForAMillisecond();
		}

	}

	/**
	 * Cannot be advised, because the class is final.
	 */
	@RestController
	static final class Unproxied {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/final")
		@Idempotent
		int run() {
			return this.runs.incrementAndGet();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OperationsApplication.class, Callers.class, Unproxied.class })
	static class RewritingApplication {

		@Bean
		UrlHandlerFilter urlHandlerFilter() {
			return UrlHandlerFilter.trailingSlashHandler("/**").wrapRequest().build();
		}

		@Bean
		ServletContextInitializer behind() {
			return (servletContext) -> servletContext.addFilter("behind", (request, response, chain) -> {
				HttpServletRequest http = (HttpServletRequest) request;
				chain.doFilter(http.getRequestURI().equals("/long") ? toShort(http) : http, response);
			}).addMappingForServletNames(EnumSet.of(DispatcherType.REQUEST), true, "*");
		}

		private static HttpServletRequest toShort(HttpServletRequest request) {
			return new HttpServletRequestWrapper(request) {

				@Override
				public String getRequestURI() {
					return "/short";
				}

			};
		}

	}

}
