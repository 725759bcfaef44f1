package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Work that continues after its database has rolled back the transaction to break a
 * deadlock.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class DeadlockRules {

	@SuppressWarnings("NullAway.Init")
	private WebApplication application;

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	/**
	 * A query for transactions that wait for another one.
	 */
	abstract String waiting();

	/**
	 * Makes the database choose another victim than this session.
	 */
	void spare(Statement session) throws SQLException {
		session.execute("insert into transfer select 'ballast', 'half' from information_schema.columns");
	}

	@BeforeAll
	void start() {
		this.application = WebApplication.start(Application.class, List::of, Stream
			.concat(database().stream(), Stream.of(WebApplication.WITH_DATABASE, "idempotent.store=jdbc",
					"idempotent.jdbc.initialize-schema=always"))
			.toArray(String[]::new));
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "handler", "listener", "method", "caller" })
	void rollsBackTheRestAfterADeadlock(String path) throws Exception {
		String name = "transfer-" + UUID.randomUUID();
		HttpResponse<byte[]> first = sendIntoADeadlock(path, name);
		assertThat(first.statusCode()).isBetween(500, 503);
		assertThat(halves(name)).isEmpty();

		assertThat(post(path, name).statusCode()).isEqualTo(201);
		assertThat(halves(name)).containsExactlyInAnyOrder("debit", "credit");
	}

	@Test
	void keepsWorkThatEndsItsOwnTransaction() {
		String name = "transfer-" + UUID.randomUUID();
		HttpResponse<byte[]> first = post("ddl", name);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(post("ddl", name).headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(halves(name)).containsExactlyInAnyOrder("debit", "credit");
	}

	HttpResponse<byte[]> sendIntoADeadlock(String path, String name) throws Exception {
		Transfers transfers = this.application.bean(Transfers.class);
		Gate gate = new Gate();
		transfers.holdUpAt(gate);
		try (Connection rival = this.application.bean(HikariDataSource.class).getConnection();
				Statement statement = rival.createStatement()) {
			rival.setAutoCommit(false);
			spare(statement);
			statement.execute("update account set n = n + 1 where id = 'b'");
			CompletableFuture<HttpResponse<byte[]>> victim = postAsync(path, name);
			gate.awaitEntry();
			CompletableFuture<Boolean> waits = CompletableFuture.supplyAsync(() -> updateA(statement));
			await().until(() -> jdbc().queryForObject(waiting(), Long.class) > 0);
			gate.open();
			HttpResponse<byte[]> answer = victim.get(60, TimeUnit.SECONDS);
			assertThat(waits.get(60, TimeUnit.SECONDS)).isTrue();
			rival.rollback();
			return answer;
		}
		finally {
			transfers.holdUpAt(null);
		}
	}

	void assertRolledBack(HttpResponse<byte[]> answer) {
		assertThat(answer.statusCode()).isEqualTo(500);
		assertThat(text(answer)).contains("urn:problem-type:idempotency:rolled-back");
	}

	List<String> halves(String name) {
		return jdbc().queryForList("select half from transfer where name = ?", String.class, name);
	}

	private static boolean updateA(Statement rival) {
		try {
			return rival.executeUpdate("update account set n = n + 1 where id = 'a'") == 1;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private JdbcTemplate jdbc() {
		return this.application.bean(JdbcTemplate.class);
	}

	private HttpResponse<byte[]> post(String path, String name) {
		return postAsync(path, name).join();
	}

	private CompletableFuture<HttpResponse<byte[]>> postAsync(String path, String name) {
		return this.application.postAsync("/transfers/" + path + "?name=" + name, "{}", "Idempotency-Key", name);
	}

	/**
	 * A database that rolls back a victim's transaction and lets it start another one.
	 */
	abstract static class GoingOn extends DeadlockRules {

		@ParameterizedTest
		@ValueSource(strings = { "handler", "listener" })
		void reportsTheRollback(String path) throws Exception {
			assertRolledBack(sendIntoADeadlock(path, "transfer-" + UUID.randomUUID()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Transfers.class)
	static class Application {

	}

}
