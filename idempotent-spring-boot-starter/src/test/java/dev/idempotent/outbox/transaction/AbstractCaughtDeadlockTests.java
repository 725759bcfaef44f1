package dev.idempotent.outbox.transaction;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Work that goes on after its database has rolled back the transaction to break a
 * deadlock, and begun another one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class AbstractCaughtDeadlockTests {

	@SuppressWarnings("NullAway.Init")
	private ConfigurableApplicationContext context;

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	/**
	 * A query for transactions that wait for another one.
	 */
	abstract String waiting();

	Class<?> configuration() {
		return Application.class;
	}

	@BeforeAll
	void start() {
		List<String> properties = new ArrayList<>(database());
		properties.add("idempotent.outbox.table-prefix=deadlock_");
		this.context = OutboxApplication.start(properties, Application.class, configuration());
		jdbc().execute("drop table if exists work");
		jdbc().execute("drop table if exists account");
		jdbc().execute("create table work (name varchar(100))");
		jdbc().execute("create table account (id varchar(10) primary key, n int)");
		jdbc().execute("insert into account values ('a', 0), ('b', 0)");
	}

	@AfterAll
	void stop() {
		this.context.close();
	}

	@BeforeEach
	void forget() {
		jdbc().update("delete from work");
		publisher().published().clear();
	}

	@Test
	void rollsBackTheRestAfterADeadlock() throws Exception {
		intoADeadlock((rival) -> assertRolledBack(() -> inTransaction((status) -> {
			work("first half");
			append("event of the first half");
			rival.run();
			work("second half");
			append("event of the second half");
		})));
		assertThat(published()).isEmpty();
		assertThat(worked()).isEmpty();
	}

	@Test
	void rollsBackTheRestAfterADeadlockWithinAnAnnotatedMethod() throws Exception {
		Annotated annotated = this.context.getBean(Annotated.class);
		intoADeadlock((rival) -> assertRolledBack(() -> annotated.work(rival)));
		assertThat(published()).isEmpty();
		assertThat(worked()).isEmpty();
	}

	@Test
	void rollsBackTheRestAfterADeadlockWithinAnAnnotatedMethodDuringTheCommit() throws Exception {
		Annotated annotated = this.context.getBean(Annotated.class);
		intoADeadlock((rival) -> assertRolledBack(() -> inTransaction((status) -> {
			work("before the commit");
			append("event of the work before the commit");
			duringTheCommit(() -> annotated.work(rival));
		})));
		assertThat(published()).isEmpty();
		assertThat(worked()).isEmpty();
	}

	/**
	 * Runs work where a listener does by default: after the events have been inserted.
	 */
	private static void duringTheCommit(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				work.run();
			}

		});
	}

	@Test
	void keepsTheOuterTransactionOfADeadlockInANewOne() throws Exception {
		intoADeadlock((rival) -> inTransaction((outer) -> {
			work("outer");
			append("outer");
			assertRolledBack(
					() -> template(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult((inner) -> {
						append("inner");
						rival.run();
					}));
		}));
		assertThat(published()).containsExactly("outer");
		assertThat(worked()).containsExactly("outer");
	}

	@Test
	void goesOnAfterADeadlockBeforeTheFirstEvent() throws Exception {
		intoADeadlock((rival) -> inTransaction((status) -> {
			rival.run();
			work("after");
			append("after");
		}));
		assertThat(published()).containsExactly("after");
		assertThat(worked()).containsExactly("after");
	}

	@Test
	void keepsTheEventsOfATransactionThatAStatementCommits() {
		inTransaction((status) -> {
			work("before");
			append("before");
			jdbc().execute("create table ended_" + System.nanoTime() + " (n int)");
			work("after");
			append("after");
		});
		assertThat(published()).containsExactlyInAnyOrder("before", "after");
		assertThat(worked()).containsExactlyInAnyOrder("before", "after");
	}

	/**
	 * Spring does not report such a rollback.
	 */
	@Test
	void rejectsARollbackBehindTheFirstEventThatSpringDoesNotKnow() {
		assertRolledBack(() -> inTransaction((status) -> {
			Savepoint savepoint = onConnection(Connection::setSavepoint);
			append("event of undone work");
			onConnection((connection) -> {
				connection.rollback(savepoint);
				return connection;
			});
		}));
		assertThat(published()).isEmpty();
	}

	private <T> T onConnection(ConnectionCallback<T> work) {
		return Objects.requireNonNull(jdbc().execute(work));
	}

	@Test
	void leavesNothingBehind() {
		inTransaction((status) -> append("committed"));
		inTransaction((status) -> this.context.getBean(Outbox.class).requireTransaction());
		inTransaction((status) -> duringTheCommit(() -> this.context.getBean(Outbox.class).requireTransaction()));
		inTransaction((status) -> duringTheCommit(() -> this.context.getBean(Annotated.class).work(() -> {
		})));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inTransaction((status) -> {
			append("rolled back");
			throw new IllegalStateException("no commit");
		}));
		assertThat(published()).containsExactlyInAnyOrder("committed", "annotated");
		assertThat(jdbc().queryForObject("select count(*) from deadlock_transaction", Integer.class)).isZero();
	}

	/**
	 * Runs work with a task that leads into a deadlock, which it survives.
	 */
	private void intoADeadlock(Consumer<Runnable> work) throws Exception {
		try (Connection connection = this.context.getBean(DataSource.class).getConnection();
				Statement rival = connection.createStatement()) {
			connection.setAutoCommit(false);
			// The database chooses the transaction with fewer changes.
			rival.execute("insert into work select 'ballast' from information_schema.columns");
			rival.execute("update account set n = n + 1 where id = 'b'");
			List<CompletableFuture<Boolean>> waits = new ArrayList<>();
			work.accept(() -> {
				jdbc().update("update account set n = n + 1 where id = 'a'");
				waits.add(CompletableFuture.supplyAsync(() -> update(rival)));
				await().until(this::isWaiting);
				assertThatExceptionOfType(PessimisticLockingFailureException.class)
					.isThrownBy(() -> jdbc().update("update account set n = n + 1 where id = 'b'"));
			});
			assertThat(waits.get(0).get(60, TimeUnit.SECONDS)).isTrue();
			connection.rollback();
			connection.setAutoCommit(true);
		}
	}

	/**
	 * Asks on a connection of its own.
	 */
	private boolean isWaiting() throws SQLException {
		try (Connection connection = this.context.getBean(DataSource.class).getConnection();
				Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery(waiting())) {
			return row.next() && row.getLong(1) > 0;
		}
	}

	private static boolean update(Statement rival) {
		try {
			return rival.executeUpdate("update account set n = n + 1 where id = 'a'") == 1;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void assertRolledBack(Runnable call) {
		assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(call::run)
			.withMessageContaining("deadlock");
	}

	private void work(String name) {
		jdbc().update("insert into work values (?)", name);
	}

	private List<String> worked() {
		return jdbc().queryForList("select name from work", String.class);
	}

	private void append(String type) {
		this.context.getBean(Outbox.class).append(OutboxEvent.of(type, "payload"));
	}

	/**
	 * The events that have been published, once a later one has been.
	 */
	private List<String> published() {
		inTransaction((status) -> append("last"));
		await().until(() -> publisher().types().contains("last")
				&& jdbc().queryForList("select id from deadlock_event").isEmpty());
		return publisher().types().stream().filter((type) -> !type.equals("last")).toList();
	}

	private RecordingPublisher publisher() {
		return this.context.getBean(RecordingPublisher.class);
	}

	JdbcTemplate jdbc() {
		return this.context.getBean(JdbcTemplate.class);
	}

	private void inTransaction(Consumer<TransactionStatus> work) {
		template(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(work);
	}

	PlatformTransactionManager manager() {
		return this.context.getBean(PlatformTransactionManager.class);
	}

	private TransactionTemplate template(int propagation) {
		TransactionTemplate template = new TransactionTemplate(manager());
		template.setPropagationBehavior(propagation);
		return template;
	}

	@Configuration(proxyBeanMethods = false)
	@Import(Annotated.class)
	static class Application {

	}

	static class Annotated {

		private final JdbcTemplate jdbc;

		Annotated(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		@TransactionalOutbox(type = "annotated", topic = RecordingPublisher.TOPIC)
		public String work(Runnable between) {
			this.jdbc.update("insert into work values ('first half')");
			between.run();
			this.jdbc.update("insert into work values ('second half')");
			return "done";
		}

	}

}
