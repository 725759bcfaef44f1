package dev.idempotent.saga.engine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.jdbc.JdbcSagaStore;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for sagas that callbacks of a transaction start.
 */
class StartedSagasTests {

	private static final Duration SHORT = Duration.ofMillis(500);

	private final HikariDataSource dataSource = new HikariDataSource();

	private final SagaStore store = new JdbcSagaStore(new OwnTransactions(this.dataSource), "saga_",
			Duration.ofSeconds(1), Duration.ofMinutes(10));

	private final List<IdempotencyKey> handedOver = new ArrayList<>();

	@BeforeEach
	void createTables() {
		this.dataSource.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		new ResourceDatabasePopulator(new ClassPathResource("dev/idempotent/schema/h2/saga.sql"))
			.execute(this.dataSource);
	}

	@AfterEach
	void close() {
		this.dataSource.close();
	}

	@Test
	void areStoredIfACallbackStartsThemBeforeTheCommit() {
		NewSaga saga = saga();
		run(new TransactionSynchronization() {
			@Override
			public void beforeCommit(boolean readOnly) {
				start(saga);
			}
		});
		assertThat(this.store.find(saga.id())).isNotNull();
		assertThat(this.handedOver).containsExactly(saga.id());
	}

	@Test
	void areRefusedIfACallbackStartsThemAfterTheCommit() {
		NewSaga first = saga();
		assertThatIllegalStateException().isThrownBy(() -> run(new TransactionSynchronization() {
			@Override
			public void beforeCommit(boolean readOnly) {
				start(first);
			}

			@Override
			public void afterCommit() {
				start(saga());
			}
		})).withMessageContaining("REQUIRES_NEW");
		assertThat(this.handedOver).containsExactly(first.id());
	}

	@Test
	void areRefusedIfTheFirstIsStartedAfterTheCommit() {
		NewSaga late = saga();
		assertThatIllegalStateException().isThrownBy(() -> run(new TransactionSynchronization() {
			@Override
			public void afterCommit() {
				start(late);
			}
		})).withMessageContaining("REQUIRES_NEW");
		assertThat(this.handedOver).isEmpty();
		start(late);
		assertThat(this.handedOver).containsExactly(late.id());
	}

	@Test
	void needNoSecondConnectionIfTheyAreStartedAgain() {
		this.dataSource.setMaximumPoolSize(1);
		this.dataSource.setConnectionTimeout(SHORT.toMillis());
		NewSaga saga = saga();
		start(saga);
		transactions().executeWithoutResult((status) -> {
			start(saga);
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> start(saga(saga.owner(), "another order")));
		});
		assertThat(this.handedOver).containsExactly(saga.id());
	}

	@Test
	void areFoundOnASecondConnectionIfTheTransactionIsOlder() {
		NewSaga saga = saga();
		startBesideAnOlderTransaction(saga, () -> start(saga));
		assertThat(this.handedOver).containsExactly(saga.id());
	}

	@Test
	void waitForASecondConnectionForSecondsOnly() {
		this.dataSource.setMaximumPoolSize(2);
		NewSaga saga = saga();
		startBesideAnOlderTransaction(saga, () -> {
			try (Connection last = this.dataSource.getConnection()) {
				assertThat(last.isClosed()).isFalse();
				assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> start(saga))
					.havingRootCause()
					.isInstanceOf(TimeoutException.class);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	/**
	 * Starts a saga while a transaction is open that does not see it.
	 */
	private void startBesideAnOlderTransaction(NewSaga saga, Runnable then) {
		TransactionTemplate older = transactions();
		older.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		older.executeWithoutResult((status) -> {
			assertThat(this.store.findInTransaction(saga.id())).isNull();
			CompletableFuture.runAsync(() -> start(saga)).join();
			then.run();
		});
	}

	private TransactionTemplate transactions() {
		return new TransactionTemplate(new JdbcTransactionManager(this.dataSource));
	}

	private void run(TransactionSynchronization callback) {
		transactions()
			.executeWithoutResult((status) -> TransactionSynchronizationManager.registerSynchronization(callback));
	}

	private void start(NewSaga saga) {
		StartedSagas.start(this.store, saga, this.handedOver::add);
	}

	private static NewSaga saga() {
		return saga(SagaOwner.first(Samples.key()), "order");
	}

	private static NewSaga saga(SagaOwner owner, String request) {
		return new NewSaga(owner, "checkout", SagaStatus.STARTED, "process", Samples.fingerprint(request),
				new byte[] { 1 }, null, Duration.ofMinutes(1), Duration.ofMinutes(10));
	}

}
