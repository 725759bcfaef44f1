package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * When the work of a handler is committed or rolled back on plain JDBC, and what a retry
 * or a waiting duplicate receives.
 */
class TransactionsIntegrationTests {

	@Nested
	class OnPostgres extends AbstractTransactionTests {

		OnPostgres() {
			super(TransactionApplication.class, WebApplication.WITH_DATABASE);
		}

		/**
		 * PostgreSQL aborts a transaction at its first failed statement.
		 */
		@Test
		void rollsBackWorkWithACaughtStatementFailure() {
			Attempt attempt = new Attempt("failed-statement");
			assertThat(attempt.send().statusCode()).isEqualTo(500);
			assertThat(attempt.rows()).isZero();
			assertThat(attempt.send().headers().firstValue("Idempotent-Replayed")).isEmpty();
		}

	}

	@Nested
	@Tag("long")
	class OnH2 extends AbstractTransactionTests {

		OnH2() {
			super(TransactionApplication.class, WebApplication.WITH_DATABASE, "spring.datasource.url=jdbc:h2:mem:rules",
					"spring.datasource.username=sa", "spring.datasource.password=");
		}

	}

	/**
	 * The rules on another servlet container.
	 */
	@Nested
	@Tag("long")
	class OnJetty extends AbstractTransactionTests {

		OnJetty() {
			super(TransactionApplication.class, WebApplication.WITH_DATABASE, "test.container=jetty");
		}

	}

	/**
	 * Tests for {@code idempotent.web.commit-on=success}.
	 */
	@Nested
	class CommittedOnSuccess extends AbstractPostgresHandlerTests {

		private final String name = "work-" + UUID.randomUUID();

		@BeforeParameterizedClassInvocation
		static void start(String container) {
			startWithPostgres(TransactionApplication.class, container, "idempotent.web.commit-on=success");
		}

		@ParameterizedTest
		@CsvSource({ "created, 201, 1, true", "declined, 402, 0, true", "conflict, 409, 0, false" })
		void commitsNoWorkThatIsRefused(String ending, int status, int rows, boolean replayed) {
			String path = "/jobs/" + ending + "?name=" + this.name;
			assertThat(post(path).statusCode()).isEqualTo(status);
			assertThat(application.bean(Works.class).count(this.name)).isEqualTo(rows);
			HttpResponse<byte[]> retry = post(path);
			assertThat(retry.statusCode()).isEqualTo(status);
			assertThat(isReplay(retry)).isEqualTo(replayed);
		}

	}

	/**
	 * A claim that waits until another instance's transaction commits. Under SERIALIZABLE
	 * this is a serialization failure.
	 */
	@Nested
	class OfTwoInstances {

		@RegisterExtension
		static final RealRedis redis = RealRedis.shared();

		@RegisterExtension
		static final RealPostgres postgres = RealPostgres.shared();

		@SuppressWarnings("NullAway.Init")
		private static WebApplication first;

		@SuppressWarnings("NullAway.Init")
		private static WebApplication second;

		@BeforeAll
		static void startBoth() {
			first = start();
			second = start();
		}

		@AfterAll
		static void stop() {
			first.close();
			second.close();
		}

		@ParameterizedTest
		@ValueSource(strings = { "/jobs/gate", "/serializable" })
		void letAWaitingClaimGetTheCommittedResponse(String handler) throws Exception {
			String path = handler + "?name=work-" + UUID.randomUUID();
			String key = UUID.randomUUID().toString();
			Gate gate = new Gate();
			first.bean(WorkController.class).holdUpAt(gate);
			CompletableFuture<HttpResponse<byte[]>> running = first.postAsync(path, "{}", "Idempotency-Key", key);
			gate.awaitEntry();
			CompletableFuture<HttpResponse<byte[]>> waiting = second.postAsync(path, "{}", "Idempotency-Key", key);
			awaitAWaitingLock();
			gate.open();
			assertThat(waiting.join().statusCode()).isEqualTo(201);
			assertThat(waiting.join().body()).isEqualTo(running.join().body());
			assertThat(waiting.join().headers().firstValue("Idempotent-Replayed")).hasValue("true");
		}

		private static void awaitAWaitingLock() {
			JdbcTemplate observer = new JdbcTemplate(postgres.connect());
			await()
				.until(() -> !observer.queryForList("select pid from pg_stat_activity where wait_event_type = 'Lock'")
					.isEmpty());
		}

		private static WebApplication start() {
			return TransactionApplication.start(TransactionApplication.class, redis, postgres,
					WebApplication.WITH_DATABASE, "idempotent.store=jdbc", "idempotent.jdbc.lock-timeout=60s");
		}

	}

}
