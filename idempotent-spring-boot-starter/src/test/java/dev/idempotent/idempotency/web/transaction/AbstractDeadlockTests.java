package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.WebApplication;
import org.jspecify.annotations.Nullable;
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
import org.springframework.context.annotation.Lazy;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Work that continues after its database has rolled back the transaction to break a
 * deadlock.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractDeadlockTests {

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
	abstract static class GoingOn extends AbstractDeadlockTests {

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

	/**
	 * Transfers of two halves that catch database exceptions in between and continue.
	 */
	@RestController
	static class Transfers {

		private final JdbcTemplate jdbc;

		private final Transfers self;

		private volatile @Nullable Gate gate;

		Transfers(JdbcTemplate jdbc, @Lazy Transfers self) {
			this.jdbc = jdbc;
			this.self = self;
			jdbc.execute("drop table if exists transfer");
			jdbc.execute("create table transfer (name varchar(100), half varchar(100))");
			jdbc.execute("drop table if exists account");
			jdbc.execute("create table account (id varchar(10) primary key, n int)");
			jdbc.execute("insert into account values ('a', 0), ('b', 0)");
		}

		/**
		 * Lets each transfer stop between its halves until the gate opens, and then touch
		 * the other account.
		 */
		void holdUpAt(@Nullable Gate closed) {
			this.gate = closed;
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/transfers/handler")
		ResponseEntity<?> inHandler(@RequestParam String name) {
			debit(name);
			return goOn(name);
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/transfers/listener")
		ResponseEntity<?> inListener(@RequestParam String name) {
			debit(name);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void beforeCommit(boolean readOnly) {
					goOn(name);
				}
			});
			return ResponseEntity.status(201).body(Map.of("done", name));
		}

		@PostMapping("/transfers/method")
		ResponseEntity<?> inMethod(@RequestParam String name) {
			this.self.transfer(name);
			return ResponseEntity.status(201).build();
		}

		@PostMapping("/transfers/caller")
		ResponseEntity<?> inCaller(@RequestParam String name) {
			this.self.callAndGoOn(name);
			return ResponseEntity.status(201).build();
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/transfers/ddl")
		ResponseEntity<?> withDdl(@RequestParam String name) {
			debit(name);
			this.jdbc.execute("create table if not exists commits_implicitly (id int)");
			return goOn(name);
		}

		@Transactional
		@Idempotent(key = "#name", guarantee = Guarantee.TRANSACTION, name = "transfers.transfer")
		public String transfer(String name) {
			debit(name);
			goOn(name);
			return name;
		}

		@Transactional
		public void callAndGoOn(String name) {
			this.self.debitOnce(name);
			goOn(name);
		}

		@Transactional
		@Idempotent(key = "#name", guarantee = Guarantee.TRANSACTION, name = "transfers.debit-once")
		public String debitOnce(String name) {
			debit(name);
			return name;
		}

		private void debit(String name) {
			this.jdbc.update("insert into transfer values (?, 'debit')", name);
			this.jdbc.update("update account set n = n + 1 where id = 'a'");
		}

		private ResponseEntity<?> goOn(String name) {
			try {
				stumble();
			}
			catch (PessimisticLockingFailureException ex) {
				// The transfer ignores the failure.
			}
			this.jdbc.update("insert into transfer values (?, 'credit')", name);
			return ResponseEntity.status(201).body(Map.of("done", name));
		}

		private void stumble() {
			Gate closed = this.gate;
			if (closed == null) {
				return;
			}
			try {
				closed.pass();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			this.jdbc.update("update account set n = n + 1 where id = 'b'");
		}

	}

}
