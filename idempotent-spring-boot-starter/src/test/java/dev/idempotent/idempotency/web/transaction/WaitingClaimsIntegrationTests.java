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
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A claim that waits until another instance's transaction commits. Under SERIALIZABLE
 * this is a serialization failure.
 */
class WaitingClaimsIntegrationTests {

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
	void areAnsweredWithTheCommittedResponse(String handler) throws Exception {
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
		await().until(() -> !observer.queryForList("select pid from pg_stat_activity where wait_event_type = 'Lock'")
			.isEmpty());
	}

	private static WebApplication start() {
		return TransactionApplication.start(TransactionApplication.class, redis, postgres, WebApplication.WITH_DATABASE,
				"idempotent.store=jdbc", "idempotent.jdbc.lock-timeout=60s");
	}

}
