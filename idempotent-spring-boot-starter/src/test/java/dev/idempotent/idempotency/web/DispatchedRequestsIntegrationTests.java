package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.error.ErrorPage;
import org.springframework.boot.web.error.ErrorPageRegistrar;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that reach their handler in another dispatch of the container than the first
 * one, or are dispatched again behind it.
 */
class DispatchedRequestsIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container);
	}

	@ParameterizedTest
	@CsvSource({ "X-Suspend, /run/lease, 200", "X-Suspend, /run/transaction, 200", "X-Suspend, /run/redirect, 302",
			"X-Suspend, /run/later, 200", "X-Forward, /run/lease, 200", "X-Forward, /run/transaction, 200",
			"X-Forward, /run/redirect, 302", "X-Forward, /run/later, 200", "X-Suspend-Late, /run/lease, 200",
			"X-Suspend-Late, /run/transaction, 200" })
	void claimTheirKeyWhereTheyReachTheirFirstHandler(String way, String path, int status) {
		int before = runs();
		assertThat(application.post(path, "{}", way, path).statusCode()).isEqualTo(400);
		assertThat(runs()).isEqualTo(before);
		HttpResponse<byte[]> first = post(path, way, path);
		assertThat(first.statusCode()).isEqualTo(status);
		HttpResponse<byte[]> retry = post(path, way, path);
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(runs()).isEqualTo(before + 1);
		assertThat(isReplay(post(path))).as("a retry that is not dispatched").isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "X-Suspend", "X-Forward" })
	void leaveNoTransactionOpenIfTheirHandlerFails(String way) {
		int before = rows();
		for (int i = 0; i < 3; i++) {
			assertThat(post("/run/failing", way, "/run/failing").statusCode()).isEqualTo(500);
		}
		assertThat(rows()).isEqualTo(before);
		Awaitility.await()
			.untilAsserted(() -> assertThat(
					application.bean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections())
				.isZero());
	}

	@ParameterizedTest
	@CsvSource({ "X-Start, /run/lease, 200", "X-Start, /run/transaction, 200", "X-Start, /run/declined, 422",
			"X-Start-Late, /run/lease, 200", "X-Start-Late, /run/transaction, 200",
			"X-Start-Late, /run/declined, 422" })
	void areAnsweredByTheirHandlerIfOtherCodeHasStartedAsynchronousProcessing(String way, String path, int status) {
		int before = runs();
		HttpResponse<byte[]> first = post(path, way, "true");
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(WebApplication.text(first)).isEqualTo("run " + (before + 1));
		HttpResponse<byte[]> retry = post(path, way, "true");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(runs()).isEqualTo(before + 1);
	}

	/**
	 * A container dispatches to it; the filter of Spring Boot that does so in a foreign
	 * container forwards.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "X-Error", "X-Error-Forward" })
	void runNoHandlerAsAnErrorPage(String way) {
		int before = runs();
		assertThat(post("/run/lease", way, "423").statusCode()).isGreaterThanOrEqualTo(400);
		assertThat(runs()).isEqualTo(before);
		assertThat(post("/run/lease").statusCode()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "forward, lease", "include, lease", "async, lease", "forward, transaction", "include, transaction",
			"async, transaction" })
	void runNoHandlerForAServletThatHasTheRequestBefore(String way, String name) {
		int before = runs();
		assertThat(post("/servlet/" + way + "/" + name).statusCode()).isEqualTo(500);
		assertThat(runs()).isEqualTo(before);
	}

	@ParameterizedTest
	@CsvSource({ "/forwarding/guarded, status", "/forwarding/guarded, error", "/forwarding/inside/guarded, status",
			"/forwarding/inside/guarded, error" })
	void areNotRepeatedIfAnInterceptorRefusesTheTargetOfTheirForward(String path, String way) {
		int before = runs();
		assertThat(post(path, "X-Refused", way).statusCode()).isEqualTo(429);
		assertThat(runs()).isEqualTo(before + 1);
		assertProblem(post(path), "response-not-kept");
		assertThat(runs()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/forwarding/busy", "/forwarding/inside/busy" })
	void areRepeatedIfTheTargetOfTheirForwardAsksForIt(String path) {
		int before = runs();
		for (int i = 1; i <= 2; i++) {
			assertThat(post(path).statusCode()).isEqualTo(429);
			assertThat(runs()).isEqualTo(before + i);
		}
	}

	private static int runs() {
		return application.bean(Handlers.class).runs();
	}

	private static int rows() {
		return application.bean(JdbcClient.class).sql("select count(*) from done").query(Integer.class).single();
	}

	@Controller
	static class Handlers {

		private final AtomicInteger runs = new AtomicInteger();

		private final JdbcClient jdbc;

		Handlers(JdbcClient jdbc) {
			this.jdbc = jdbc;
			jdbc.sql("create table done (id integer primary key)").update();
		}

		int runs() {
			return this.runs.get();
		}

		@Idempotent
		@PostMapping("/run/lease")
		@ResponseBody
		String lease() {
			return "run " + this.runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/run/declined")
		ResponseEntity<String> decline() {
			return ResponseEntity.unprocessableContent().body(lease());
		}

		@Idempotent
		@RequestMapping(path = "/run/error", method = { RequestMethod.GET, RequestMethod.POST })
		@ResponseBody
		String error() {
			return lease();
		}

		@Idempotent
		@PostMapping("/run/later")
		@ResponseBody
		Callable<String> later() {
			return this::lease;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/run/transaction")
		@ResponseBody
		String transaction() {
			int run = this.runs.incrementAndGet();
			this.jdbc.sql("insert into done (id) values (?)").param(run).update();
			return "run " + run;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/run/redirect")
		String redirect() {
			transaction();
			return "redirect:/thanks";
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/run/failing")
		String fail() {
			transaction();
			throw new IllegalStateException("The handler fails");
		}

		@Idempotent
		@PostMapping("/forwarding/{target}")
		String forward(@PathVariable String target) {
			this.runs.incrementAndGet();
			return "forward:/" + target;
		}

		@Idempotent
		@PostMapping("/forwarding/inside/{target}")
		void forward(@PathVariable String target, HttpServletRequest request, HttpServletResponse response)
				throws ServletException, IOException {
			forward(target);
			request.getRequestDispatcher("/" + target).forward(request, response);
		}

		@PostMapping("/guarded")
		@ResponseBody
		String guarded() {
			return "done";
		}

		@PostMapping("/busy")
		@ResponseBody
		ResponseEntity<String> busy() {
			return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS).body("busy");
		}

	}

	/**
	 * Suspends requests until they have a permit, starts asynchronous processing of some
	 * that it passes on, forwards those whose URL it rewrites, and refuses others.
	 */
	static class Dispatcher extends OncePerRequestFilter {

		private final String suspend;

		Dispatcher(String suspend) {
			this.suspend = suspend;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			if (request.getHeader(this.suspend) != null) {
				request.startAsync().dispatch();
			}
			else if (request.getHeader("X-Start") != null || request.getHeader("X-Start-Late") != null) {
				AsyncContext context = (request.getHeader("X-Start") != null) ? request.startAsync() : null;
				chain.doFilter(request, response);
				((context != null) ? context : request.getAsyncContext()).complete();
			}
			else if (request.getHeader("X-Forward") != null) {
				request.getRequestDispatcher(request.getHeader("X-Forward")).forward(request, response);
			}
			else if (request.getHeader("X-Error-Forward") != null) {
				int status = Integer.parseInt(request.getHeader("X-Error-Forward"));
				request.setAttribute(RequestDispatcher.ERROR_STATUS_CODE, status);
				response.setStatus(status);
				request.getRequestDispatcher("/run/error").forward(request, response);
			}
			else if (request.getHeader("X-Error") != null) {
				response.sendError(Integer.parseInt(request.getHeader("X-Error")));
			}
			else {
				chain.doFilter(request, response);
			}
		}

	}

	/**
	 * A servlet that may have done its own work before.
	 */
	@SuppressWarnings("serial")
	static class OtherServlet extends HttpServlet {

		@Override
		protected void doPost(HttpServletRequest request, HttpServletResponse response)
				throws ServletException, IOException {
			String[] segments = request.getPathInfo().split("/", -1);
			String path = "/run/" + segments[2];
			switch (segments[1]) {
				case "forward" -> request.getRequestDispatcher(path).forward(request, response);
				case "include" -> request.getRequestDispatcher(path).include(request, response);
				default -> request.startAsync().dispatch(path);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Handlers.class)
	static class Application implements WebMvcConfigurer {

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(new HandlerInterceptor() {

				@Override
				public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
						throws IOException {
					String refused = request.getHeader("X-Refused");
					if ("status".equals(refused)) {
						response.setStatus(429);
					}
					else if (refused != null) {
						response.sendError(429);
					}
					return refused == null;
				}

			}).addPathPatterns("/guarded");
		}

		@Bean
		FilterRegistrationBean<Dispatcher> dispatcher() {
			FilterRegistrationBean<Dispatcher> registration = new FilterRegistrationBean<>(new Dispatcher("X-Suspend"));
			registration.setDispatcherTypes(DispatcherType.REQUEST);
			return registration;
		}

		/**
		 * An interceptor that suspends a request, behind the filter of the library.
		 */
		@Bean
		WebMvcConfigurer suspending() {
			return new WebMvcConfigurer() {

				@Override
				public void addInterceptors(InterceptorRegistry registry) {
					registry.addInterceptor(new HandlerInterceptor() {

						@Override
						public boolean preHandle(HttpServletRequest request, HttpServletResponse response,
								Object handler) {
							if (request.getHeader("X-Start-Late") != null) {
								request.startAsync();
							}
							boolean suspends = request.getHeader("X-Suspend-Late") != null
									&& request.getDispatcherType() == DispatcherType.REQUEST;
							if (suspends) {
								request.startAsync().dispatch();
							}
							return !suspends;
						}

					});
				}

			};
		}

		@Bean
		ErrorPageRegistrar errorPages() {
			return (registry) -> registry.addErrorPages(new ErrorPage(HttpStatus.LOCKED, "/run/error"));
		}

		@Bean
		ServletRegistrationBean<OtherServlet> otherServlet() {
			return new ServletRegistrationBean<>(new OtherServlet(), "/servlet/*");
		}

	}

}
