package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the outages and the end of a {@link TableSweeper}.
 */
@ExtendWith(OutputCaptureExtension.class)
class SweeperLifeTests {

	private static final String FAILED = "Expired idempotency keys could not be deleted";

	private static final String AGAIN = "Expired idempotency keys are deleted again";

	private final RecordTable table = RecordTable.inMemory();

	private final AtomicInteger asked = new AtomicInteger();

	private volatile boolean away;

	private final DelegatingDataSource database = new DelegatingDataSource(this.table.dataSource()) {

		@Override
		public Connection getConnection() throws SQLException {
			SweeperLifeTests.this.asked.incrementAndGet();
			if (SweeperLifeTests.this.away) {
				throw new SQLException("away");
			}
			return super.getConnection();
		}

	};

	private final TableSweeper sweeper = Sweepers.sweeper(new OwnTransactions(this.database), this.table.name(),
			Duration.ofMillis(5));

	@AfterEach
	void close() {
		this.sweeper.close();
	}

	@Test
	void warnsOncePerOutageAndContinues(CapturedOutput output) {
		this.away = true;
		this.sweeper.start();
		awaitSweeps(5);
		assertThat(output).containsOnlyOnce(FAILED).doesNotContain(AGAIN);
		this.away = false;
		this.table.expire(1);
		await().until(() -> this.table.rows() == 0);
		await().untilAsserted(() -> assertThat(output).containsOnlyOnce(AGAIN));
		this.away = true;
		awaitSweeps(5);
		assertThat(output.getOut().split(FAILED, -1)).hasSize(3);
	}

	@Test
	void doesNotSweepBeforeItIsStarted() {
		this.sweeper.close();
		assertThat(this.asked).hasValue(0);
	}

	@Test
	void neverSweepsAfterClose() {
		Set<Thread> others = Thread.getAllStackTraces().keySet();
		this.sweeper.start();
		awaitSweeps(2);
		this.sweeper.close();
		int sweeps = this.asked.get();
		this.sweeper.start();
		await().during(Duration.ofMillis(100)).until(() -> this.asked.get() == sweeps);
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
			.noneMatch((thread) -> thread.getName().equals("idempotency-sweeper") && !others.contains(thread)));
	}

	@Test
	void restoresTheConnections() throws SQLException {
		this.table.expire(1);
		try (Connection only = this.table.dataSource().getConnection()) {
			only.setAutoCommit(false);
			only.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			new OwnTransactions(new SingleConnectionDataSource(only, true)).runInTransaction(
					(connection) -> new IdempotencyRecords(this.table.name()).deleteExpired(connection, 10));
			assertThat(only.getAutoCommit()).isFalse();
			assertThat(only.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
		}
		assertThat(this.table.rows()).isZero();
	}

	private void awaitSweeps(int count) {
		int before = this.asked.get();
		await().until(() -> this.asked.get() >= before + count);
	}

}
