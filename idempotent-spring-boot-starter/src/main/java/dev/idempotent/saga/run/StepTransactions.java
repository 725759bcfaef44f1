package dev.idempotent.saga.run;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs work in a transaction, and returns how that has ended.
 */
final class StepTransactions {

	private static final Logger logger = LoggerFactory.getLogger(StepTransactions.class);

	private final PlatformTransactionManager manager;

	StepTransactions(PlatformTransactionManager manager) {
		this.manager = manager;
	}

	/**
	 * Runs work in a new transaction.
	 * @throws RunAbortedError if the work throws it, after a rollback
	 */
	<T> End<T> run(String name, Function<TransactionStatus, T> work) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
		definition.setName(name);
		AtomicInteger completion = new AtomicInteger(TransactionSynchronization.STATUS_UNKNOWN);
		TransactionStatus status;
		T result;
		try {
			status = this.manager.getTransaction(definition);
		}
		catch (Throwable ex) {
			return End.rolledBack(ex);
		}
		try {
			if (TransactionSynchronizationManager.isSynchronizationActive()) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
					@Override
					public void afterCompletion(int ended) {
						completion.set(ended);
					}
				});
			}
			result = work.apply(status);
		}
		catch (RunAbortedError ex) {
			rollback(status);
			throw ex;
		}
		catch (Throwable ex) {
			rollback(status);
			return End.rolledBack(ex);
		}
		return commit(status, result, completion);
	}

	private <T> End<T> commit(TransactionStatus status, T result, AtomicInteger completion) {
		boolean marked = status.isRollbackOnly();
		try {
			this.manager.commit(status);
			return (marked || completion.get() == TransactionSynchronization.STATUS_ROLLED_BACK)
					? End.rolledBack(new UnexpectedRollbackException("The transaction was marked as rollback-only"))
					: End.committed(result);
		}
		catch (Throwable ex) {
			if (completion.get() == TransactionSynchronization.STATUS_COMMITTED) {
				logger.warn("The transaction of {} is committed, but a callback after it has failed", ex.getClass());
				logger.debug("The stack trace of the failure above", ex);
				return End.committed(result);
			}
			// JPA reports a rollback even if the reply to the commit was lost.
			return (completion.get() == TransactionSynchronization.STATUS_ROLLED_BACK && !TransientFailures.include(ex))
					? End.rolledBack(ex) : End.unknown(ex);
		}
	}

	private void rollback(TransactionStatus status) {
		if (status.isCompleted()) {
			return;
		}
		try {
			this.manager.rollback(status);
		}
		catch (Throwable ex) {
			logger.debug("A step could not be rolled back; the database rolls it back when the connection ends", ex);
		}
	}

	/**
	 * How a transaction has ended.
	 *
	 * @param committed whether it is certain that it was committed
	 * @param result the result of the work, if it was
	 * @param failure why it was not committed, or why that is unknown
	 * @param known {@code false} if only the database knows whether it was committed
	 */
	record End<T>(boolean committed, @Nullable T result, @Nullable Throwable failure, boolean known) {

		static <T> End<T> committed(T result) {
			return new End<>(true, result, null, true);
		}

		static <T> End<T> rolledBack(Throwable failure) {
			return new End<>(false, null, failure, true);
		}

		static <T> End<T> unknown(Throwable failure) {
			return new End<>(false, null, failure, false);
		}

	}

}
