package dev.idempotent.saga.engine;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;

import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the failure of a commit proves if the manager reports a rollback, as that of JPA
 * does when the connection has ended.
 */
class TransactionalStepTests {

	@Test
	void knowsNothingIfTheConnectionEndsDuringTheCommit() {
		assertThat(commitFails(new DataAccessResourceFailureException("lost")).known()).isFalse();
		SQLException broken = new SQLNonTransientConnectionException("broken", "90067", 90067);
		assertThat(commitFails(new UncategorizedSQLException("commit", null, broken)).known()).isFalse();
	}

	@Test
	void knowsThatAConstraintRollsBack() {
		assertThat(commitFails(new DataIntegrityViolationException("deferred")).known()).isTrue();
	}

	/**
	 * Spring takes it for a failure of the commit, does not roll back, and resets the
	 * connection, which commits.
	 */
	@Test
	void knowsNothingIfACallbackBeforeTheCommitFailsForATransaction() {
		UnexpectedRollbackException failure = new UnexpectedRollbackException("an inner transaction");
		TransactionalStep.End<String> end = TransactionalStep.run(new Failing(failure), "step", (status) -> {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw failure;
				}

			});
			return "done";
		});
		assertThat(end.failure()).isSameAs(failure);
		assertThat(end.known()).isFalse();
	}

	private static TransactionalStep.End<String> commitFails(RuntimeException failure) {
		return TransactionalStep.run(new Failing(failure), "step", (status) -> "done");
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
