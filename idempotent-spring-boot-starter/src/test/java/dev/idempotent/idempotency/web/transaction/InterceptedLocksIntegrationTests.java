package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A handler that waits for the lock of an interceptor, which keeps it until the request
 * is over.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterceptedLocksIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication.of(() -> TransactionApplication
		.start(Application.class, redis, postgres, WebApplication.WITH_DATABASE, "idempotent.max-run=1s"));

	private final String key = UUID.randomUUID().toString();

	@Test
	void endTheWaitOfTheHandlerAfterTheLongestRun() {
		JdbcClient jdbc = application.bean(JdbcClient.class);
		jdbc.sql("update held_account set n = 0").update();
		assertThat(post("X-Locks", "true").statusCode()).isEqualTo(500);
		assertThat(number(jdbc)).isOne();

		HttpResponse<byte[]> retry = post();
		assertThat(retry.statusCode()).isEqualTo(200);
		assertThat(retry.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(number(jdbc)).isEqualTo(11);
	}

	private HttpResponse<byte[]> post(String... more) {
		return application.post("/held", "{}", (more.length == 0) ? new String[] { "Idempotency-Key", this.key }
				: new String[] { "Idempotency-Key", this.key, more[0], more[1] });
	}

	private static int number(JdbcClient jdbc) {
		return jdbc.sql("select n from held_account").query(Integer.class).single();
	}

	@RestController
	static class Accounts {

		private final JdbcClient jdbc;

		Accounts(JdbcClient jdbc) {
			this.jdbc = jdbc;
			jdbc.sql("drop table if exists held_account").update();
			jdbc.sql("create table held_account (n integer)").update();
			jdbc.sql("insert into held_account values (0)").update();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/held")
		String add() {
			this.jdbc.sql("update held_account set n = n + 10").update();
			return "done";
		}

	}

	/**
	 * Counts in a transaction that it ends with the request.
	 */
	record CountingInterceptor(PlatformTransactionManager manager, JdbcClient jdbc) implements HandlerInterceptor {

		private static final String ATTRIBUTE = CountingInterceptor.class.getName();

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
			if (request.getHeader("X-Locks") != null) {
				request.setAttribute(ATTRIBUTE, this.manager.getTransaction(new DefaultTransactionDefinition()));
				this.jdbc.sql("update held_account set n = n + 1").update();
			}
			return true;
		}

		@Override
		public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable Exception failure) {
			TransactionStatus status = (TransactionStatus) request.getAttribute(ATTRIBUTE);
			if (status != null) {
				this.manager.commit(status);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Accounts.class)
	static class Application {

		@Bean
		WebMvcConfigurer counting(PlatformTransactionManager manager, JdbcClient jdbc) {
			return new WebMvcConfigurer() {

				@Override
				public void addInterceptors(InterceptorRegistry registry) {
					registry.addInterceptor(new CountingInterceptor(manager, jdbc)).addPathPatterns("/held");
				}

			};
		}

	}

}
