package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
 * A filter of the application may answer an error for which the container would send an
 * error page. The key does not wait for that page.
 */
class AnsweredErrorsIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(AnsweringApplication.class, container, "idempotent.on-error=keep");
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
		assertThat(isReplay(second)).isTrue();
		assertThat(runs()).isEqualTo(runs);
	}

	@ParameterizedTest
	@CsvSource({ "catches, /throws, 500", "catches, /throws-late, 500", "refuses, /throws, 400" })
	void keepTheirKeyWithoutAResponseIfTheFilterCaughtTheException(String filter, String path, int status) {
		assertThat(post(filter, path).statusCode()).isEqualTo(status);
		int runs = runs();
		HttpResponse<byte[]> second = post(filter, path);
		assertThat(second.statusCode()).isEqualTo(409);
		assertThat(text(second)).contains("response-not-kept");
		assertThat(runs()).isEqualTo(runs);
	}

	@ParameterizedTest
	@CsvSource({ "wraps, /unavailable", "catches, /transaction-throws" })
	void releaseTheKeyIfTheyAreNotStored(String filter, String path) {
		for (int i = 0; i < 2; i++) {
			int runs = runs();
			assertThat(post(filter, path).statusCode()).isGreaterThanOrEqualTo(500);
			assertThat(runs()).isEqualTo(runs + 1);
		}
	}

	private int runs() {
		return application.bean(FailingController.class).runs();
	}

	private HttpResponse<byte[]> post(String filter, String path) {
		return super.post(path, AnsweringApplication.FILTER, filter);
	}

	/**
	 * Filters that answer errors instead of the container, chosen by a header of the
	 * request.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(FailingController.class)
	static class AnsweringApplication {

		static final String FILTER = "X-Filter";

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
		 * Boot's filter for containers without error pages.
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

	}

	/**
	 * Handlers that fail in all ways.
	 */
	@RestController
	static class FailingController {

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
