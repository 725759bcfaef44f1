package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.error.ErrorPage;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.support.ErrorPageFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A filter of the application may answer an error that the container would send to an
 * error page. No key waits for the page then.
 */
@ParameterizedClass
@ValueSource(strings = { "tomcat", "jetty" })
class AnsweredErrorsIntegrationTests {

	private static final String FILTER = "X-Filter";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	String container;

	private final String key = UUID.randomUUID().toString();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		application = WebApplication.start(App.class, redis, "idempotent.on-error=keep", WebApplication.WITH_DATABASE,
				"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(), "test.container=" + container);
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@ParameterizedTest
	@CsvSource({ "wraps, /lease", "wraps, /transaction", "wraps, /callable", "wraps, /send-error", "wraps, /completes",
			"flushes, /lease", "flushes, /transaction", "defers, /lease", "defers, /transaction" })
	void areAnsweredAgainByTheFilter(String filter, String path) {
		HttpResponse<byte[]> first = post(filter, path);
		assertThat(first.statusCode()).isEqualTo(404);
		assertThat(text(first)).contains("404");
		int runs = runs();
		HttpResponse<byte[]> second = post(filter, path);
		assertThat(second.statusCode()).isEqualTo(404);
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.headers().allValues("Content-Type")).isEqualTo(first.headers().allValues("Content-Type"));
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(runs()).isEqualTo(runs);
	}

	@ParameterizedTest
	@CsvSource({ "catches, /throws, 500", "catches, /throws-late, 500", "refuses, /throws, 400" })
	void keepTheirKeyWithoutAnAnswerIfTheFilterHasCaughtTheException(String filter, String path, int status) {
		assertThat(post(filter, path).statusCode()).isEqualTo(status);
		int runs = runs();
		HttpResponse<byte[]> second = post(filter, path);
		assertThat(second.statusCode()).isEqualTo(409);
		assertThat(text(second)).contains("response-not-kept");
		assertThat(runs()).isEqualTo(runs);
	}

	@ParameterizedTest
	@CsvSource({ "wraps, /unavailable", "catches, /transaction-throws" })
	void leaveTheKeyFreeIfTheyAreNotKept(String filter, String path) {
		for (int i = 0; i < 2; i++) {
			int runs = runs();
			assertThat(post(filter, path).statusCode()).isGreaterThanOrEqualTo(500);
			assertThat(runs()).isEqualTo(runs + 1);
		}
	}

	private int runs() {
		return application.bean(Handlers.class).runs();
	}

	private HttpResponse<byte[]> post(String filter, String path) {
		return application.post(path, "{}", "Idempotency-Key", this.key, FILTER, filter);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class App {

		@Bean
		FilterRegistrationBean<Filter> answering() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				String filter = String.valueOf(((HttpServletRequest) request).getHeader(FILTER));
				HttpServletResponse http = (HttpServletResponse) response;
				if (filter.equals("wraps") || filter.equals("flushes")) {
					chain.doFilter(request, new AnsweringResponse(http, filter.equals("flushes")));
					return;
				}
				try {
					chain.doFilter(request, response);
				}
				catch (Exception ex) {
					http.setStatus(filter.equals("refuses") ? 400 : 500);
					http.getWriter().write("caught");
				}
			});
		}

		/**
		 * As Boot's, in a container that knows no error pages.
		 */
		@Bean
		FilterRegistrationBean<Filter> deferring() {
			ErrorPageFilter errorPages = new ErrorPageFilter();
			errorPages.addErrorPages(new ErrorPage("/error"));
			FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
				if ("defers".equals(((HttpServletRequest) request).getHeader(FILTER))) {
					errorPages.doFilter(request, response, chain);
				}
				else {
					chain.doFilter(request, response);
				}
			});
			registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
			return registration;
		}

	}

	static class AnsweringResponse extends HttpServletResponseWrapper {

		private final boolean flushes;

		AnsweringResponse(HttpServletResponse response, boolean flushes) {
			super(response);
			this.flushes = flushes;
		}

		@Override
		public void sendError(int status) throws IOException {
			sendError(status, "");
		}

		@Override
		public void sendError(int status, String message) throws IOException {
			setStatus(status);
			setContentType("application/json");
			getWriter().write("{\"error\":" + status + "}");
			if (this.flushes) {
				flushBuffer();
			}
		}

	}

	@RestController
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@Idempotent(lease = "1m")
		@PostMapping("/lease")
		void lease() {
			fail(HttpStatus.NOT_FOUND);
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
		@PostMapping("/transaction")
		void transaction() {
			fail(HttpStatus.NOT_FOUND);
		}

		@Idempotent(lease = "1m")
		@PostMapping("/callable")
		Callable<String> callable() {
			return () -> {
				fail(HttpStatus.NOT_FOUND);
				return "";
			};
		}

		@Idempotent(lease = "1m")
		@PostMapping("/send-error")
		void sendError(HttpServletResponse response) throws IOException {
			this.runs.incrementAndGet();
			response.getWriter().write("left out");
			response.sendError(404, "none");
		}

		@Idempotent(lease = "1m")
		@PostMapping("/completes")
		void complete(HttpServletRequest request) {
			this.runs.incrementAndGet();
			var context = request.startAsync();
			context.start(() -> {
				try {
					((HttpServletResponse) context.getResponse()).sendError(404);
				}
				catch (IOException ex) {
					throw new IllegalStateException(ex);
				}
				context.complete();
			});
		}

		@Idempotent(lease = "1m")
		@PostMapping("/throws")
		void fail() {
			this.runs.incrementAndGet();
			throw new IllegalStateException("unhandled");
		}

		@Idempotent(lease = "1m")
		@PostMapping("/throws-late")
		void failLate(HttpServletResponse response) throws IOException {
			response.setContentType("application/x-ndjson");
			response.getWriter().write("{}");
			this.runs.incrementAndGet();
			throw new IllegalStateException("unhandled");
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
		@PostMapping("/unavailable")
		void unavailable() {
			fail(HttpStatus.SERVICE_UNAVAILABLE);
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
		@PostMapping("/transaction-throws")
		void failTransaction() {
			fail();
		}

		private void fail(HttpStatus status) {
			this.runs.incrementAndGet();
			throw new ResponseStatusException(status);
		}

	}

}
