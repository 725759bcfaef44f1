package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Interceptors of an application stand before the claim of a key, its refusals and its
 * replays, and outside the transaction of the handler.
 */
class InterceptorsIntegrationTests extends AbstractTomcatAndJettyTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(Application.class, container);
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void guardReplays(String guarantee) {
		assertThat(post("/pay/" + guarantee).statusCode()).isEqualTo(200);
		assertThat(isReplay(post("/pay/" + guarantee))).isTrue();
		HttpResponse<byte[]> denied = post("/pay/" + guarantee, "X-Denied", "true");
		assertThat(denied.statusCode()).isEqualTo(403);
		assertThat(isReplay(denied)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void keepWhatTheyWriteIfTheHandlerFails(String guarantee) {
		int payments = rows("payment");
		int attempts = rows("attempt");
		for (int i = 0; i < 3; i++) {
			assertThat(post("/pay/" + guarantee + "?pin=wrong").statusCode()).isEqualTo(401);
		}
		assertThat(rows("attempt")).isEqualTo(attempts + 3);
		assertThat(rows("payment")).isEqualTo(payments + (guarantee.equals("lease") ? 3 : 0));
	}

	@Test
	void letExceptionHandlersKeepWhatTheyWrite() {
		int audits = rows("audit");
		int payments = rows("payment");
		HttpResponse<byte[]> first = post("/pay/transaction?pin=audited");
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(rows("audit")).isEqualTo(audits + 1);
		assertThat(rows("payment")).isEqualTo(payments);
		HttpResponse<byte[]> retry = post("/pay/transaction?pin=audited");
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.body()).isEqualTo(first.body());
		assertThat(rows("audit")).isEqualTo(audits + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void setHeadersOfFirstResponsesAndReplaysOnce(String guarantee) {
		post("/pay/" + guarantee);
		HttpResponse<byte[]> retry = post("/pay/" + guarantee);
		assertThat(isReplay(retry)).isTrue();
		assertThat(retry.headers().allValues("X-Tenant")).containsExactly("one");
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void mayNotBeginTheBodyOfAResponse(String guarantee) {
		int payments = rows("payment");
		assertThat(post("/pay/" + guarantee, "X-Written", "true").statusCode()).isEqualTo(500);
		assertThat(rows("payment")).isEqualTo(payments);
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void mayFlushAResponseThatTheyHaveNotBegun(String guarantee) {
		HttpResponse<byte[]> first = post("/pay/" + guarantee, "X-Flushed", "true");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(first)).isEqualTo("paid");
		assertThat(isReplay(post("/pay/" + guarantee, "X-Flushed", "true"))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void mayUnbindTheRequestFromTheThread(String guarantee) {
		int payments = rows("payment");
		assertThat(post("/pay/" + guarantee, "X-Unbound", "true").statusCode()).isEqualTo(200);
		assertThat(isReplay(post("/pay/" + guarantee, "X-Unbound", "true"))).isTrue();
		assertThat(rows("payment")).isEqualTo(payments + 1);
	}

	@Test
	void thatRefuseAnAsynchronousResultDoNotLetItsWorkRunAgain() {
		int payments = rows("payment");
		assertThat(post("/pay/later", "X-Denied-Later", "true").statusCode()).isEqualTo(429);
		HttpResponse<byte[]> retry = post("/pay/later");
		assertThat(retry.statusCode()).isEqualTo(409);
		assertThat(WebApplication.text(retry)).contains("response-not-kept");
		assertThat(rows("payment")).isEqualTo(payments + 1);
	}

	@Test
	void cannotReplaceTheResponseOfWorkThatHasCommitted() {
		int payments = rows("payment");
		HttpResponse<byte[]> first = post("/pay/transaction", "X-Failing-After", "true");
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(WebApplication.text(first)).isEqualTo("paid");
		assertThat(rows("payment")).isEqualTo(payments + 1);
		assertThat(isReplay(post("/pay/transaction"))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "transaction" })
	void thatFailWithALostConnectionAreNoSuccess(String guarantee) {
		int payments = rows("payment");
		assertThat(post("/pay/" + guarantee, "X-Lost", "true").statusCode()).isEqualTo(500);
		assertThat(rows("payment")).isEqualTo(payments);
		assertThat(post("/pay/" + guarantee).statusCode()).isEqualTo(200);
		assertThat(rows("payment")).isEqualTo(payments + 1);
	}

	private static int rows(String table) {
		return application.bean(JdbcClient.class).sql("select count(*) from " + table).query(Integer.class).single();
	}

	/**
	 * As an application has for tenants, rate limits and audits.
	 */
	record Gatekeeper(JdbcClient jdbc) implements HandlerInterceptor {

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
				throws IOException {
			this.jdbc.sql("insert into attempt (id) values (default)").update();
			response.addHeader("X-Tenant", "one");
			if (request.getHeader("X-Denied") != null) {
				response.setStatus(403);
				return false;
			}
			if (request.getHeader("X-Denied-Later") != null && request.getDispatcherType() == DispatcherType.ASYNC) {
				response.setStatus(429);
				return false;
			}
			if (request.getHeader("X-Flushed") != null) {
				response.flushBuffer();
			}
			if (request.getHeader("X-Written") != null) {
				response.getOutputStream().write('>');
			}
			if (request.getHeader("X-Unbound") != null) {
				// As code does that has bound a request of its own to the thread.
				RequestContextHolder.resetRequestAttributes();
			}
			if (request.getHeader("X-Lost") != null) {
				throw new IOException("Connection reset by peer");
			}
			return true;
		}

		@Override
		public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable ModelAndView view) {
			if (request.getHeader("X-Failing-After") != null) {
				throw new WrongPinException("after");
			}
		}

	}

	@RestController
	static class Payments {

		private final JdbcClient jdbc;

		Payments(JdbcClient jdbc) {
			this.jdbc = jdbc;
			for (String table : new String[] { "payment", "attempt", "audit" }) {
				jdbc.sql("create table " + table + " (id integer generated always as identity)").update();
			}
		}

		@Idempotent(guarantee = Guarantee.LEASE)
		@PostMapping("/pay/lease")
		String payUnderLease(@RequestParam(defaultValue = "") String pin) {
			return pay(pin);
		}

		@Idempotent(guarantee = Guarantee.LEASE)
		@PostMapping("/pay/later")
		Callable<String> payLater() {
			return () -> pay("");
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/pay/{transaction:transaction}")
		String payInTransaction(@PathVariable String transaction, @RequestParam(defaultValue = "") String pin) {
			return pay(pin);
		}

		private String pay(String pin) {
			this.jdbc.sql("insert into payment (id) values (default)").update();
			if (!pin.isEmpty()) {
				throw new WrongPinException(pin);
			}
			return "paid";
		}

		@ExceptionHandler
		ResponseEntity<String> answer(WrongPinException ex) {
			boolean audited = "audited".equals(ex.getMessage());
			if (audited) {
				this.jdbc.sql("insert into audit (id) values (default)").update();
			}
			return ResponseEntity.status(audited ? 422 : 401).body("wrong pin");
		}

	}

	static class WrongPinException extends RuntimeException {

		WrongPinException(String pin) {
			super(pin);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class Application {

		@Bean
		WebMvcConfigurer interceptors(JdbcClient jdbc) {
			return new WebMvcConfigurer() {

				@Override
				public void addInterceptors(InterceptorRegistry registry) {
					registry.addInterceptor(new Gatekeeper(jdbc));
				}

			};
		}

	}

}
