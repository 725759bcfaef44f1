package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.web.transaction.HoldApplication.HoldController;
import dev.idempotent.idempotency.web.transaction.Works.Troubled;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

import static dev.idempotent.testing.DocumentedProblem.assertProblem;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Cancels with each kind of store, and at the same time as their actions.
 */
class CancelsIntegrationTests {

	/**
	 * Cancels on PostgreSQL, with Redis and a replay cache in front.
	 */
	@Nested
	class OnPostgresBehindRedis extends AbstractCancelTests {

		@RegisterExtension
		static final RealPostgres postgres = RealPostgres.shared();

		@BeforeParameterizedClassInvocation
		static void start(String container) {
			application = TransactionApplication.start(HoldApplication.class, redis, postgres,
					WebApplication.WITH_DATABASE, "test.container=" + container,
					"idempotent.replay-cache.max-size=1MB");
		}

		@Test
		void preventsAnActionThatIsStillClaimedInRedisByADeadProcess() {
			IdempotencyKey action = HoldApplication.keyOf(this.key);
			IdempotencyStore front = application.bean(IdempotencyStore.class);
			assertThat(front.claim(action, Samples.fingerprint("any"), "dead", Duration.ofMillis(1400)))
				.isInstanceOf(Claim.Acquired.class);
			HttpResponse<byte[]> cancelled = application.post("/releases/created?name=dead", "{}", "Idempotency-Key",
					"undo-" + this.key, "Idempotency-Cancels", this.key + "; outcome=unknown");
			assertThat(cancelled.statusCode()).isEqualTo(204);
			await().until(() -> post("/holds/created?name=" + this.key).statusCode() == 410);
			assertThat(application.bean(Works.class).count(this.key)).isZero();
		}

	}

	/**
	 * Cancels on PostgreSQL alone, with encrypted responses.
	 */
	@Nested
	@Tag("long")
	class OnPostgresAlone extends AbstractCancelTests {

		@RegisterExtension
		static final RealPostgres postgres = RealPostgres.shared();

		@BeforeParameterizedClassInvocation
		static void start(String container) {
			application = TransactionApplication.start(HoldApplication.class, redis, postgres,
					WebApplication.WITH_DATABASE, "test.container=" + container, "idempotent.store=jdbc",
					"idempotent.encryption.keys.k1=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
					"idempotent.encryption.active-key=k1");
		}

		@Test
		void encryptsTombstones() {
			application.post("/releases/created?name=any", "{}", "Idempotency-Key", "undo-" + this.key,
					"Idempotency-Cancels", this.key);
			assertThat(application.bean(JdbcTemplate.class)
				.queryForObject("select encode(response, 'escape') from idempotency_record where key_digest = ?",
						String.class, HoldApplication.keyOf(this.key).digest()))
				.contains("k1")
				.doesNotContain("cancelled");
		}

	}

	/**
	 * Cancels on H2.
	 */
	@Nested
	@Tag("long")
	class OnH2 extends AbstractCancelTests {

		@BeforeParameterizedClassInvocation
		static void start(String container) {
			startWithDatabase(HoldApplication.class, container, "idempotent.web.max-response-body=10KB",
					"idempotent.web.max-buffered-response=100KB");
		}

	}

	/**
	 * Concurrent cancels on PostgreSQL.
	 */
	@Nested
	class Concurrent extends AbstractConcurrentCancelTests {

		@RegisterExtension
		static final RealPostgres postgres = RealPostgres.shared();

		@Override
		List<String> database() {
			return postgres.properties();
		}

		@Override
		String waiting() {
			return "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%idempotency_record%'";
		}

	}

	/**
	 * Callers of an action and its cancel without a principal, in an application that
	 * could know them.
	 */
	@Nested
	class OfUnknownCallers {

		@RegisterExtension
		static final RealRedis redis = RealRedis.shared();

		@RegisterExtension
		static final RealPostgres postgres = RealPostgres.shared();

		@Order(RunningApplication.AFTER_ITS_SERVERS)
		@RegisterExtension
		static final RunningApplication application = RunningApplication.of(() -> TransactionApplication
			.start(AnonymousApplication.class, redis, postgres, WebApplication.WITH_DATABASE));

		private final String key = UUID.randomUUID().toString();

		@Test
		@ExtendWith(OutputCaptureExtension.class)
		void areRefused(CapturedOutput output) {
			assertRefused(post("/holds/created"));
			assertRefused(post("/releases/created", "Idempotency-Cancels", "another"));
			assertThat(output).contains("IdempotencyScopeResolver");
			assertThat(application.bean(Works.class).count(this.key)).isZero();
			assertThat(application.bean(Works.class).count(HoldController.RELEASED + this.key)).isZero();
		}

		@Test
		void areRefusedWithCredentialsThatNoFilterHasRead() {
			assertRefused(post("/holds/created", "Authorization", "Bearer one"));
			assertRefused(post("/releases/created", "Idempotency-Cancels", "another", "Authorization", "Bearer one"));
		}

		@Test
		void mayUseOtherHandlers() {
			assertThat(post("/jobs/created").statusCode()).isEqualTo(201);
		}

		private static void assertRefused(HttpResponse<byte[]> response) {
			assertProblem(response, "caller-required");
			assertThat(text(response)).doesNotContain("IdempotencyScopeResolver");
		}

		private HttpResponse<byte[]> post(String path, String... headers) {
			String[] all = new String[headers.length + 2];
			all[0] = "Idempotency-Key";
			all[1] = this.key;
			System.arraycopy(headers, 0, all, 2, headers.length);
			return application.post(path + "?name=" + this.key, "{}", all);
		}

		@Configuration(proxyBeanMethods = false)
		@EnableAutoConfiguration
		@Import({ HoldController.class, WorkController.class, WorkController.Advice.class, Troubled.class,
				Works.class })
		static class AnonymousApplication {

		}

	}

}
