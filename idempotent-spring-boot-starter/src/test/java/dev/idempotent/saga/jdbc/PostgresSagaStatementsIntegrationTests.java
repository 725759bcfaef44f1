package dev.idempotent.saga.jdbc;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * The statements and commits of sagas on PostgreSQL.
 */
class PostgresSagaStatementsIntegrationTests extends AbstractSagaStatementsTests {

	private static final String FIRST_CALL = "insert saga_instance, insert saga_step";

	private static final String NEXT = "update saga_instance, insert saga_step";

	private static final String END = "update saga_instance, insert saga_step, update saga_step";

	/**
	 * That of the driver, and one more.
	 */
	private static final int PREPARE_THRESHOLD = 6;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	SagaRows rows() {
		HikariDataSource pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		return SagaRows.create(pool, "postgresql", "logged_saga_");
	}

	@Test
	void sendsOneStatementForEachCall() throws Throwable {
		call(this::threeCalls);
		assertThat(this.log.take()).containsExactly(FIRST_CALL, "commit", NEXT, "commit", NEXT, "commit", END,
				"commit");
	}

	@Test
	void writesItsRowOnceInEachTransaction() throws Throwable {
		call(this::threeTransactions);
		assertThat(this.log.take()).containsExactly("insert saga_instance", "insert work", "insert saga_step", "commit",
				"update saga_instance", "insert work", "insert saga_step", "commit", "update saga_instance",
				"insert work", "insert saga_step", "commit", "update saga_instance, update saga_step", "commit");
	}

	@Test
	void writesACallBeforeItsUndoAndTheUndoWithTheNextCommit() {
		assertThatExceptionOfType(SagaCompensatedException.class).isThrownBy(() -> call(this::compensated));
		List<String> log = this.log.take();
		assertThat(log.subList(0, 6)).as("forward")
			.containsExactly("insert saga_instance", "insert work", "insert saga_step", "commit", NEXT, "commit");
		assertThat(log.subList(6, log.size())).as("backward")
			.containsExactly(NEXT, "commit", NEXT, "commit", "update saga_instance", "delete work", "insert saga_step",
					"commit", "update saga_instance, update saga_step", "commit");
	}

	@Test
	void triesToInsertAndReadsForAReplay() throws Throwable {
		call(this::threeCalls);
		this.log.take();
		call(this::threeCalls);
		assertThat(this.log.take()).containsExactly(FIRST_CALL, "commit", "select saga_instance", "commit");
	}

	@Test
	void readsFewRowsHoweverManySagasAreOpen() {
		new JdbcTemplate(this.log)
			.update("insert into logged_saga_instance (id, name, status, epoch, steps, deadline, attempts, "
					+ "fingerprint_version, fingerprint_digest, created_at) select md5('open' || i), 'other', "
					+ "'EXECUTING', 1, 0, now(), 0, 1, 'x', now() from generate_series(1, 1000) i");
		SagaCompensatedException ex = new RowReads(this.log).atMost(100, "logged_saga_instance", "a saga",
				() -> catchThrowableOfType(SagaCompensatedException.class, () -> call(this::compensated)));
		assertThat(ex).isNotNull();
	}

	@Test
	void repeatsAStepWhosePreparedStatementAMigrationHasInvalidated() throws Throwable {
		JdbcTemplate work = new JdbcTemplate(this.log);
		work.execute("create table migrated (id integer)");
		String query = "select * from migrated where id = ?";
		for (int i = 0; i < PREPARE_THRESHOLD; i++) {
			work.queryForList(query, i);
		}
		try (HikariDataSource migration = postgres.connect()) {
			new JdbcTemplate(migration).execute("alter table migrated add column note text");
		}
		AtomicInteger undone = new AtomicInteger();
		Supplier<String> body = () -> {
			SagaSteps saga = steps();
			saga.step("before").compensate(undone::incrementAndGet).run(() -> {
			});
			saga.step("reads").runInTransaction(() -> {
				work.queryForList(query, 1);
			});
			return "done";
		};
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
		becomeDue();
		assertThat(call(body)).isEqualTo("done");
		assertThat(undone).hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "idle_in_transaction_session_timeout", "transaction_timeout" })
	void repeatsAStepWhoseConnectionTheServerHasEnded(String timeout) throws Throwable {
		JdbcTemplate work = new JdbcTemplate(this.log);
		AtomicInteger undone = new AtomicInteger();
		AtomicInteger runs = new AtomicInteger();
		Supplier<String> body = () -> {
			SagaSteps saga = steps();
			saga.step("before").compensate(undone::incrementAndGet).run(() -> {
			});
			saga.step("slow").runInTransaction(() -> {
				if (runs.incrementAndGet() == 1) {
					letTheServerEnd(work, timeout);
				}
				work.update("insert into logged_work (name) values ('slow')");
			});
			return "done";
		};
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(body));
		becomeDue();
		assertThat(call(body)).isEqualTo("done");
		assertThat(undone).hasValue(0);
		assertThat(runs).hasValue(2);
		assertThat(work.queryForList("select name from logged_work", String.class)).containsExactly("slow");
	}

	private static void letTheServerEnd(JdbcTemplate work, String timeout) {
		Integer process = work.queryForObject("select pg_backend_pid()", Integer.class);
		work.execute("set local " + timeout + " = '50ms'");
		try (HikariDataSource observer = postgres.connect()) {
			await().until(() -> new JdbcTemplate(observer)
				.queryForList("select pid from pg_stat_activity where pid = ?", process)
				.isEmpty());
		}
	}

	@Test
	void takesOverWithTwoStatements() throws Throwable {
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> call(this::interrupted));
		becomeDue();
		this.log.take();
		call(this::threeCalls);
		assertThat(this.log.take()).containsExactly(FIRST_CALL, "commit", "select saga_instance", "commit",
				"update saga_instance", "commit", "select saga_instance", "commit", NEXT, "commit", END, "commit");
	}

}
