package dev.idempotent.saga.engine;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.util.UUID;
import java.util.function.Function;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.testing.FailingListener;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionGuard;
import org.h2.Driver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the failure of a commit proves if the manager reports a rollback, as the one of
 * JPA does when the connection has ended.
 */
class TransactionalStepTests {

	private final DataSource dataSource = new SimpleDriverDataSource(new Driver(),
			"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	private final JdbcTransactionManager manager = new JdbcTransactionManager(this.dataSource);

	private final FailingListener listener = FailingListener.of(this.manager);

	private final JdbcClient database = JdbcClient.create(this.dataSource);

	@BeforeEach
	void createTable() {
		this.database.sql("create table work (what varchar(100))").update();
	}

	@AfterEach
	void hasLeftNothing() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
	}

	@Test
	void knowsNothingIfTheConnectionEndsDuringTheCommit() {
		assertThat(commitFails(new DataAccessResourceFailureException("lost")).isKnown()).isFalse();
		SQLException broken = new SQLNonTransientConnectionException("broken", "90067", 90067);
		assertThat(commitFails(new UncategorizedSQLException("commit", null, broken)).isKnown()).isFalse();
	}

	@Test
	void knowsThatAConstraintRollsBack() {
		assertThat(commitFails(new DataIntegrityViolationException("deferred")).isKnown()).isTrue();
	}

	/**
	 * Spring takes it for a failure of the commit, does not roll back, and resets the
	 * connection, which commits.
	 */
	@Test
	void knowsNothingIfACallbackBeforeTheCommitFailsForATransaction() {
		UnexpectedRollbackException failure = new UnexpectedRollbackException("an inner transaction");
		TransactionalStep.TransactionOutcome<String> end = run(new Failing(failure), (status) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw failure;
				}

			});
			return "done";
		});
		assertThat(end.failure()).isSameAs(failure);
		assertThat(end.isKnown()).isFalse();
	}

	/**
	 * Spring does not roll back if a listener throws before it does or instead of the
	 * commit, and resets the connection, which commits.
	 */
	@Test
	void hasRolledBackWhateverAListenerThrows() {
		this.listener.failBeforeCommit(new UnexpectedRollbackException("an inner transaction"));
		assertThat(insert().isKnown()).isTrue();
		this.listener.failBeforeCommit(new CannotCreateTransactionException("an inner transaction"));
		assertThat(insert().isKnown()).isFalse();
		this.listener.failBeforeRollback(new IllegalStateException("a listener"));
		assertThat(TransactionalStep.run(this.manager, "step", (changes) -> {
			this.database.sql("insert into work values ('done')").update();
			throw new IllegalStateException("The action fails");
		}).isKnown()).isTrue();
		assertThat(this.database.sql("select * from work").query().listOfRows()).isEmpty();
	}

	/**
	 * Spring leaves the transaction open that it has begun, which the next step would
	 * join, and not commit.
	 */
	@Test
	void leavesNoTransactionIfAListenerFailsAfterTheBegin() {
		this.listener.failAfterBegin(new IllegalStateException("a listener"));
		assertThat(insert().isKnown()).isTrue();
		assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
		assertThat(insert().isCommitted()).isTrue();
		assertThat(this.database.sql("select * from work").query().listOfRows()).hasSize(1);
	}

	@Test
	void failsForWhatAListenerThrowsAlthoughTheConnectionCannotBeRolledBack() {
		this.manager.addListener(new TransactionExecutionListener() {

			@Override
			public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
				JdbcUtils.closeConnection(DataSourceUtils.getConnection(TransactionalStepTests.this.dataSource));
				throw new ArithmeticException("a listener");
			}

		});
		assertThat(insert().failure()).isInstanceOf(ArithmeticException.class)
			.satisfies((failure) -> assertThat(failure.getSuppressed()).hasSize(1));
	}

	/**
	 * Spring cannot resume the synchronizations around it, and says that there is no
	 * transaction.
	 */
	@Test
	void leavesTheSynchronizationsAroundItIfAListenerFails() {
		TransactionTemplate around = new TransactionTemplate(this.manager);
		around.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		AtomicInteger ended = new AtomicInteger(-1);
		around.executeWithoutResult((status) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int completion) {
					ended.set(completion);
				}

			});
			this.listener.failAfterBegin(new IllegalStateException("a listener"));
			insert();
			assertThat(TransactionSynchronizationManager.hasResource(this.dataSource)).isFalse();
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
		});
		assertThat(ended).hasValue(TransactionSynchronization.STATUS_COMMITTED);
		assertThat(insert().isCommitted()).isTrue();
		assertThat(this.database.sql("select * from work").query().listOfRows()).hasSize(1);
	}

	/**
	 * That a commit has returned is no evidence.
	 */
	@Test
	void isNotCommittedUnlessASynchronizationHasBeenTold() {
		TransactionalStep.TransactionOutcome<Integer> end = insert(new Silent(this.manager));
		boolean unused = TransactionGuard.endLeftTransaction((failure) -> {
		});
		assertThat(end.isCommitted()).isFalse();
		assertThat(end.isKnown()).isFalse();
		this.manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		end = insert();
		assertThat(end.isCommitted()).isFalse();
		assertThat(end.isKnown()).isFalse();
		assertThat(end.failure()).hasMessageContaining("JdbcTransactionManager) has no synchronizations");
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(this.database.sql("select * from work").query().listOfRows()).isEmpty();
	}

	@Test
	void isNotCommittedByTheTransactionOfAnother() {
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
			assertThat(insert().isKnown()).isFalse();
			status.setRollbackOnly();
		});
		assertThat(this.database.sql("select * from work").query().listOfRows()).isEmpty();
	}

	private TransactionalStep.TransactionOutcome<Integer> insert() {
		return insert(this.manager);
	}

	private TransactionalStep.TransactionOutcome<Integer> insert(PlatformTransactionManager manager) {
		return TransactionalStep.run(manager, "step",
				(changes) -> this.database.sql("insert into work values ('done')").update());
	}

	private static TransactionalStep.TransactionOutcome<String> commitFails(RuntimeException failure) {
		return run(new Failing(failure), (status) -> "done");
	}

	private static TransactionalStep.TransactionOutcome<String> run(PlatformTransactionManager manager,
			Function<PendingChanges, String> work) {
		return TransactionalStep.run(manager, "step", work);
	}

	/**
	 * A manager whose commits do nothing.
	 */
	private record Silent(PlatformTransactionManager target) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			return this.target.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.target.rollback(status);
		}

	}

	/**
	 * A manager whose commits fail, and whose rollbacks afterwards have nothing to do.
	 */
	private static final class Failing extends AbstractPlatformTransactionManager {

		private final transient RuntimeException failure;

		Failing(RuntimeException failure) {
			this.failure = failure;
		}

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			throw this.failure;
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
