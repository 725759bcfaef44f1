package dev.idempotent.saga.jdbc;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.PessimisticLockingFailureException;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcSagaStore} on MariaDB, with each driver, and with MySQL
 * Connector/J set to count the rows that it changes.
 */
@ParameterizedClass(name = "{0}")
@ValueSource(strings = { "jdbc:mariadb://127.0.0.1:%d/test", "jdbc:mysql://127.0.0.1:%d/test",
		"jdbc:mysql://127.0.0.1:%d/test?useAffectedRows=true" })
class MariaDbSagaStoreIntegrationTests extends AbstractJdbcSagaStoreTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, SagaRows> tables = new ConcurrentHashMap<>();

	/**
	 * Of the database, with a place for the port.
	 */
	@Parameter
	@SuppressWarnings("NullAway.Init")
	String url;

	@Override
	SagaRows rows() {
		return tables.computeIfAbsent(this.url,
				(url) -> SagaRows.create(mariaDb.connect(url), "mysql", "saga_" + tables.size() + "_"));
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> rows().template()
			.queryForObject("select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
					Long.class),
				Long.valueOf(1)::equals);
	}

	@Test
	void losesTheLockByADeadlockThatTheWorkCatches() {
		rows().template().execute("create table if not exists deadlocking (id integer primary key, n integer)");
		rows().template().update("insert ignore into deadlocking values (1, 0), (2, 0)");
		this.store.insert(this.saga, List.of());
		for (int i = 0; i < 100; i++) {
			if (isVictim()) {
				assertThat(find().journal()).isEmpty();
				return;
			}
		}
		throw new AssertionError("The step was never the victim of a deadlock");
	}

	/**
	 * Has changed less than the other transaction, and so is most likely the victim.
	 */
	private boolean isVictim() {
		CountDownLatch both = new CountDownLatch(2);
		CompletableFuture<Void> other = onAnotherThread(() -> transactions().executeWithoutResult((status) -> {
			rows().template().update("insert into deadlocking select seq, 0 from seq_1000_to_2000");
			update(1);
			meet(both);
			try {
				update(2);
			}
			catch (PessimisticLockingFailureException ex) {
				// The victim is the step in another attempt.
			}
			status.setRollbackOnly();
		}));
		Boolean victim = transactions().execute((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			update(2);
			meet(both);
			boolean caught = false;
			try {
				update(1);
			}
			catch (PessimisticLockingFailureException ex) {
				caught = true;
				assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isFalse();
			}
			status.setRollbackOnly();
			return caught;
		});
		other.join();
		return Boolean.TRUE.equals(victim);
	}

	private void update(int row) {
		rows().template().update("update deadlocking set n = n + 1 where id = ?", row);
	}

	private static void meet(CountDownLatch both) {
		both.countDown();
		try {
			assertThat(both.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
