package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
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
 * Spring Security refuses error dispatches of those who are not logged in, unless it is
 * told otherwise: the answer that was to be stored never leaves.
 */
@ParameterizedClass
@ValueSource(strings = { "tomcat", "jetty" })
class RefusedErrorPagesIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@Parameter
	@SuppressWarnings("NullAway.Init")
	String container;

	private final String key = UUID.randomUUID().toString();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		application = TransactionApplication.start(GuestApplication.class, redis, postgres,
				WebApplication.WITH_DATABASE, WebApplication.WITH_SECURITY, "test.container=" + container);
	}

	@AfterParameterizedClassInvocation
	static void stop() {
		application.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/guests/lease", "/guests/transaction", "/guests/send-error", "/guests/callable",
			"/guests/unhandled" })
	void leaveTheKeyFreeAtOnce(String path) {
		int before = runs();
		for (int i = 1; i <= 2; i++) {
			HttpResponse<byte[]> answer = post(path);
			assertThat(answer.statusCode()).isIn(401, 403);
			assertThat(answer.headers().firstValue("Idempotent-Replayed")).isEmpty();
			assertThat(runs() - before).isEqualTo(i);
		}
	}

	private int runs() {
		return application.bean(GuestController.class).runs();
	}

	private HttpResponse<byte[]> post(String path) {
		return application.post(path, "{}", "Idempotency-Key", this.key);
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
