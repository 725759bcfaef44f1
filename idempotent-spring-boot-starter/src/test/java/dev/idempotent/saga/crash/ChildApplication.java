package dev.idempotent.saga.crash;

import dev.idempotent.autoconfigure.idempotency.ImportHandlers;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import dev.idempotent.testing.RestartedApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * What the applications of a crash run share: as little as possible, because they start
 * often.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
		DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
		JdbcTemplateAutoConfiguration.class, JacksonAutoConfiguration.class,
		HttpMessageConvertersAutoConfiguration.class, TomcatServletWebServerAutoConfiguration.class,
		DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class, ErrorMvcAutoConfiguration.class,
		DataRedisAutoConfiguration.class })
@ImportHandlers
@ImportSagas
@Import({ ChildApplication.Effects.class, ChildApplication.HaltPoint.Control.class })
class ChildApplication {

	@Bean
	IdempotencyScopeResolver oneCaller() {
		return (request) -> "caller";
	}

	/**
	 * The effects of all actions and undos, which are only ever added.
	 */
	static class Effects {

		static final String TABLE = "create table effect (id bigserial primary key, kind varchar(20) not null, "
				+ "saga varchar(100) not null, ref varchar(100))";

		private final JdbcTemplate jdbc;

		Effects(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		void add(String kind, String saga, String ref) {
			this.jdbc.update("insert into effect (kind, saga, ref) values (?, ?, ?)", kind, saga, ref);
			HaltPoint.passInTransaction(kind);
		}

	}

	/**
	 * What a saga is started with, and what it sends.
	 *
	 * @param id the key of the saga
	 * @param plan how it ends if there is no fault
	 * @param ref the charge to refund
	 */
	record Command(String id, String plan, String ref) {

		static final String REFUSES_ORDER = "refuses-order";

		static final String THROWS = "throws";

		/**
		 * The network delivers no attempt of the hold in time.
		 */
		static final String LATE_HOLD = "late-hold";

		/**
		 * Waits for signals, which are sent.
		 */
		static final String WAITS = "waits";

		/**
		 * Waits for signals, which are not sent.
		 */
		static final String WAITS_IN_VAIN = "waits-in-vain";

		Command withRef(String charge) {
			return new Command(this.id, this.plan, charge);
		}

		boolean waits() {
			return this.plan.startsWith(WAITS);
		}

		boolean refuses(String step) {
			return this.plan.equals("refuses-" + step);
		}

	}

	/**
	 * Moments at which a JVM halts if it was asked to.
	 */
	static final class HaltPoint {

		private static volatile String wanted = "";

		private HaltPoint() {
		}

		static void pass(String point) {
			if (point.equals(wanted)) {
				RestartedApplication.halt(point);
			}
		}

		/**
		 * Passes a point before the end of the open transaction, and another one after
		 * its commit.
		 */
		static void passInTransaction(String name) {
			pass("before-commit-" + name);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					pass("after-commit-" + name);
				}

			});
		}

		@RestController
		static class Control {

			@PostMapping("/halt")
			void halt(@RequestParam String point) {
				wanted = point;
			}

		}

	}

}
