package dev.idempotent.idempotency.web.transaction;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.AbstractTomcatAndJettyTests;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.method.HandlerTypePredicate;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Interceptors with a transaction of their own around the handler, wherever they stand.
 */
class InterceptedTransactionsIntegrationTests extends AbstractTomcatAndJettyTests {

	private static final int CONNECTIONS = 4;

	private final String name = "row-" + UUID.randomUUID();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container, "spring.datasource.hikari.connection-timeout=3000",
				"spring.datasource.hikari.maximum-pool-size=" + CONNECTIONS);
	}

	@ParameterizedTest
	@CsvSource({ "/view, 302", "/body, 200", "/behind/view, 302", "/behind/body, 200", "/own/view, 302",
			"/own/body, 200" })
	void endBehindThatOfTheHandler(String path, int status) {
		for (int i = 0; i < 2 * CONNECTIONS; i++) {
			HttpResponse<byte[]> first = send(path, i);
			assertThat(first.statusCode()).isEqualTo(status);
			assertThat(isReplay(send(path, i))).isTrue();
		}
		assertThat(rows()).isEqualTo(2 * CONNECTIONS);
		awaitAllConnections();
	}

	/**
	 * A view is rendered later, so that its transaction is still open.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "/view", "/behind/view", "/own/view" })
	void loseNoConnectionAndClaimNoSuccessIfTheyEndTooEarly(String path) {
		for (int i = 0; i < 2 * CONNECTIONS; i++) {
			assertThat(send(path, i, "X-Ends", "early").statusCode()).isEqualTo(500);
		}
		assertThat(rows()).isZero();
		awaitAllConnections();
		assertThat(send(path, 0).statusCode()).isEqualTo(302);
		assertThat(rows()).isOne();
	}

	/**
	 * The handler joins the transaction around it, which decides whether the work was
	 * done.
	 */
	@ParameterizedTest
	@CsvSource({ "/leased/view, 302, undone", "/leased/body, 200, undone", "/behind/leased/view, 302, undone",
			"/own/leased/body, 200, undone", "/leased/body, 200, rollback-only", "/leased/view, 302, rollback-only" })
	void decideAboutTheWorkOfAHandlerUnderALease(String path, int status, String end) {
		assertThat(send(path, 0, "X-Ends", end).statusCode()).isEqualTo(500);
		assertThat(rows()).isZero();
		assertThat(send(path, 0).statusCode()).isEqualTo(status);
		assertThat(isReplay(send(path, 0))).isTrue();
		assertThat(rows()).isOne();
		awaitAllConnections();
	}

	/**
	 * An interceptor usually rolls back what the handler has declined.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "undone", "rollback-only" })
	void doNotDecideAboutADecline(String end) {
		HttpResponse<byte[]> first = send("/leased/declined", 0, "X-Ends", end);
		HttpResponse<byte[]> retry = send("/leased/declined", 0);
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(text(first)).isEqualTo("declined");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(rows()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "/leased/view, 302", "/leased/body, 200" })
	void decideAboutTheWorkOfAHandlerUnderALeaseIfTheyEndEarly(String path, int status) {
		assertThat(send(path, 0, "X-Ends", "early").statusCode()).isEqualTo(status);
		assertThat(isReplay(send(path, 0, "X-Ends", "early"))).isTrue();
		assertThat(rows()).isOne();
	}

	/**
	 * A filter ends its transaction behind the response.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "/leased/view", "/leased/body" })
	void freeTheKeyOfAHandlerUnderALeaseIfAFilterRollsThemBack(String path) {
		assertThat(isReplay(send(path, 0, "X-Filter", "rollback"))).isFalse();
		assertThat(rows()).isZero();
		assertThat(isReplay(sendUntilFree(path, "commit"))).isFalse();
		assertThat(isReplay(sendUntilFree(path, "commit"))).isTrue();
		assertThat(rows()).isOne();
	}

	/**
	 * The response is sent before the filter ends its transaction.
	 */
	private HttpResponse<byte[]> sendUntilFree(String path, String end) {
		return Awaitility.await()
			.until(() -> send(path, 0, "X-Filter", end), (response) -> response.statusCode() != 409);
	}

	private HttpResponse<byte[]> send(String path, int i, String... headers) {
		String[] all = new String[headers.length + 2];
		System.arraycopy(headers, 0, all, 2, headers.length);
		all[0] = "Idempotency-Key";
		all[1] = this.key + "-" + i;
		return application.post(path + "?name=" + this.name, "{}", all);
	}

	private int rows() {
		return application.bean(JdbcClient.class)
			.sql("select count(*) from shop where name = ?")
			.param(this.name)
			.query(Integer.class)
			.single();
	}

	private static void awaitAllConnections() {
		Awaitility.await()
			.untilAsserted(() -> assertThat(
					application.bean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections())
				.isZero());
	}

	/**
	 * Begins a transaction for each request.
	 */
	record TransactionPerRequest(PlatformTransactionManager manager) implements HandlerInterceptor {

		private static final String ATTRIBUTE = TransactionPerRequest.class.getName();

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
			request.setAttribute(ATTRIBUTE, this.manager.getTransaction(new DefaultTransactionDefinition()));
			return true;
		}

		@Override
		public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable ModelAndView view) {
			if ("early".equals(request.getHeader("X-Ends"))) {
				end(request);
			}
		}

		@Override
		public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable Exception failure) {
			end(request);
		}

		private void end(HttpServletRequest request) {
			TransactionStatus status = (TransactionStatus) request.getAttribute(ATTRIBUTE);
			String end = request.getHeader("X-Ends");
			if ("rollback-only".equals(end)) {
				status.setRollbackOnly();
			}
			if ("undone".equals(end)) {
				this.manager.rollback(status);
			}
			else if (!status.isCompleted()) {
				this.manager.commit(status);
			}
		}

	}

	@Controller
	static class Shop {

		private final JdbcClient jdbc;

		Shop(JdbcClient jdbc) {
			this.jdbc = jdbc;
			jdbc.sql("create table shop (name varchar(100))").update();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/view")
		String view(@RequestParam String name) {
			body(name);
			return "redirect:/thanks";
		}

		@Idempotent
		@PostMapping("/leased/view")
		String leasedView(@RequestParam String name) {
			return view(name);
		}

		@Idempotent
		@PostMapping("/leased/body")
		@ResponseBody
		String leasedBody(@RequestParam String name) {
			return body(name);
		}

		@Idempotent
		@PostMapping("/leased/declined")
		ResponseEntity<String> leasedDeclined(@RequestParam String name) {
			body(name);
			return ResponseEntity.unprocessableContent().body("declined");
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/body")
		@ResponseBody
		String body(@RequestParam String name) {
			this.jdbc.sql("insert into shop (name) values (?)").param(name).update();
			return "thanks";
		}

	}

	/**
	 * Begins a transaction around the requests that ask for it.
	 */
	static class TransactionFilter extends OncePerRequestFilter {

		private final PlatformTransactionManager manager;

		TransactionFilter(PlatformTransactionManager manager) {
			this.manager = manager;
		}

		@Override
		protected boolean shouldNotFilter(HttpServletRequest request) {
			return request.getHeader("X-Filter") == null;
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			TransactionStatus status = this.manager.getTransaction(new DefaultTransactionDefinition());
			chain.doFilter(request, response);
			if (request.getHeader("X-Filter").equals("rollback")) {
				status.setRollbackOnly();
			}
			this.manager.commit(status);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Shop.class, TransactionFilter.class })
	static class Application {

		@Bean
		WebMvcConfigurer interceptors(PlatformTransactionManager manager) {
			return new WebMvcConfigurer() {

				@Override
				public void addInterceptors(InterceptorRegistry registry) {
					registry.addInterceptor(new TransactionPerRequest(manager)).order(Ordered.LOWEST_PRECEDENCE);
				}

			};
		}

		/**
		 * With an interceptor that no registry sorts.
		 */
		@Bean(defaultCandidate = false)
		RequestMappingHandlerMapping behind(PlatformTransactionManager manager) {
			RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping() {

				@Override
				protected void extendInterceptors(List<Object> interceptors) {
					interceptors.add(new TransactionPerRequest(manager));
				}

			};
			return prefixed(mapping, "/behind");
		}

		@Bean(defaultCandidate = false)
		RequestMappingHandlerMapping own(PlatformTransactionManager manager) {
			RequestMappingHandlerMapping mapping = new RequestMappingHandlerMapping();
			mapping.setInterceptors(new TransactionPerRequest(manager));
			return prefixed(mapping, "/own");
		}

		private static RequestMappingHandlerMapping prefixed(RequestMappingHandlerMapping mapping, String prefix) {
			mapping.setOrder(1);
			mapping.setPathPrefixes(Map.of(prefix, HandlerTypePredicate.forAnyHandlerType()));
			return mapping;
		}

	}

}
