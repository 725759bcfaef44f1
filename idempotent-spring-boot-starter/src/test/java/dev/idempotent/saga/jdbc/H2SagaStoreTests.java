package dev.idempotent.saga.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.SagaSamples;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcSagaStore} on H2, which has one lock timeout per connection.
 */
class H2SagaStoreTests extends AbstractJdbcSagaStoreTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Map<Duration, HikariDataSource> pools = new ConcurrentHashMap<>();

	private static SagaRows rows;

	@BeforeAll
	static void createTables() {
		rows = SagaRows.create(pool(MINUTE), "h2", "saga_");
	}

	@Test
	void keepsStepsApartThatTheDatabaseComparesAsEqual() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:h2:mem:ignoring_case;IGNORECASE=TRUE");
		try (pool) {
			assertThat(SagaRows.create(pool, "h2", "saga_").steps()).isZero();
			SagaStore sagas = new JdbcSagaStore(new OwnTransactions(pool), "saga_", MINUTE, Duration.ofMinutes(10));
			List<JournalEntry> steps = List.of(SagaSamples.done("hold", 1), SagaSamples.done("HOLD", 2));
			sagas.insert(this.saga, steps);
			sagas.change(this.saga.owner(),
					new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPENSATING, null, "declined", MINUTE),
					List.of());
			sagas.change(this.saga.owner(),
					new StatusChange(SagaStatus.COMPENSATING, SagaStatus.HALTED, null, "refused", MINUTE), List.of());
			assertThat(new JdbcSagaAdministration(new OwnTransactions(pool), "saga_", SagaSamples.RETENTION)
				.skip(this.saga.id(), "HOLD", "by hand")).isTrue();
			assertThat(new JdbcSagaAdministration(new OwnTransactions(pool), "saga_", SagaSamples.RETENTION)
				.skip(this.saga.id(), "Hold", "by hand")).isFalse();
			assertThat(Objects.requireNonNull(sagas.find(this.saga.id())).journal())
				.extracting((step) -> step.entry().state())
				.containsExactly(StepState.DONE, StepState.SKIPPED);
		}
	}

	private static HikariDataSource pool(Duration lockTimeout) {
		return pools.computeIfAbsent(lockTimeout, (key) -> {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl("jdbc:h2:mem:sagas;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=" + lockTimeout.toMillis());
			return pool;
		});
	}

	@Override
	SagaRows rows() {
		return rows;
	}

	@Override
	protected SagaStore store(Duration lockTimeout) {
		return new JdbcSagaStore(new OwnTransactions(pool(lockTimeout)), rows.tables().prefix(), lockTimeout,
				Duration.ofMinutes(10));
	}

	@Override
	protected TransactionTemplate transactions() {
		return transactions(MINUTE);
	}

	@Override
	protected TransactionTemplate transactions(Duration lockTimeout) {
		return new TransactionTemplate(new DataSourceTransactionManager(pool(lockTimeout)));
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> Thread.getAllStackTraces()
			.values()
			.stream()
			.flatMap(Stream::of)
			.anyMatch((frame) -> frame.getClassName().equals("org.h2.command.Command")
					&& frame.getMethodName().equals("executeUpdate")));
	}

}
