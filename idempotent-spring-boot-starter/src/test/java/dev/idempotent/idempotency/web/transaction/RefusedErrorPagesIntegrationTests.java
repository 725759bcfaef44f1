package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * By default Spring Security rejects error dispatches of unauthenticated callers: the
 * response that was to be stored is never sent.
 */
class RefusedErrorPagesIntegrationTests extends AbstractPostgresHandlerTests {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithPostgres(GuestApplication.class, container, WebApplication.WITH_SECURITY);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/guests/lease", "/guests/transaction", "/guests/send-error", "/guests/callable",
			"/guests/unhandled" })
	void releaseTheKeyAtOnce(String path) {
		int before = runs();
		for (int i = 1; i <= 2; i++) {
			HttpResponse<byte[]> answer = post(path);
			assertThat(answer.statusCode()).isIn(401, 403);
			assertThat(isReplay(answer)).isFalse();
			assertThat(runs() - before).isEqualTo(i);
		}
	}

	private int runs() {
		return application.bean(GuestController.class).runs();
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TransactionApplication.class, GuestController.class })
	static class GuestApplication {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests(
						(requests) -> requests.requestMatchers("/guests/**").permitAll().anyRequest().authenticated())
				.build();
		}

	}

	@RestController
	static class GuestController {

		private final AtomicInteger runs = new AtomicInteger();

		int runs() {
			return this.runs.get();
		}

		@Idempotent(lease = "1m")
		@PostMapping("/guests/lease")
		void lease() {
			refuse();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION, lease = "1m")
		@PostMapping("/guests/transaction")
		void transaction() {
			refuse();
		}

		@Idempotent(lease = "1m")
		@PostMapping("/guests/send-error")
		void sendError(HttpServletResponse response) throws Exception {
			this.runs.incrementAndGet();
			response.sendError(HttpServletResponse.SC_GONE);
		}

		@Idempotent(lease = "1m")
		@PostMapping("/guests/callable")
		Callable<String> callable() {
			return () -> {
				refuse();
				return "";
			};
		}

		@Idempotent(lease = "1m")
		@PostMapping("/guests/unhandled")
		void unhandled() {
			this.runs.incrementAndGet();
			throw new IllegalStateException("unhandled");
		}

		private void refuse() {
			this.runs.incrementAndGet();
			throw new ResponseStatusException(HttpStatus.NOT_FOUND);
		}

	}

}
