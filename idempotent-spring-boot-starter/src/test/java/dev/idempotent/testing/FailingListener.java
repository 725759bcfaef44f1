package dev.idempotent.testing;

import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * A listener of transactions that throws once after one has begun, before it is committed
 * or rolled back, or after its commit.
 */
public final class FailingListener implements TransactionExecutionListener {

	private final AtomicReference<@Nullable RuntimeException> afterBegin = new AtomicReference<>();

	private final AtomicReference<@Nullable RuntimeException> beforeCommit = new AtomicReference<>();

	private final AtomicReference<@Nullable RuntimeException> beforeRollback = new AtomicReference<>();

	private final AtomicReference<@Nullable RuntimeException> afterCommit = new AtomicReference<>();

	private FailingListener() {
	}

	/**
	 * Registers a listener for good.
	 */
	public static FailingListener of(PlatformTransactionManager manager) {
		FailingListener listener = new FailingListener();
		((ConfigurableTransactionManager) manager).addListener(listener);
		return listener;
	}

	public void failAfterBegin(RuntimeException failure) {
		this.afterBegin.set(failure);
	}

	public void failBeforeCommit(RuntimeException failure) {
		this.beforeCommit.set(failure);
	}

	public void failBeforeRollback(RuntimeException failure) {
		this.beforeRollback.set(failure);
	}

	public void failAfterCommit(RuntimeException failure) {
		this.afterCommit.set(failure);
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		failOnce(transaction, this.afterBegin);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		failOnce(transaction, this.beforeCommit);
	}

	@Override
	public void beforeRollback(TransactionExecution transaction) {
		failOnce(transaction, this.beforeRollback);
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
		failOnce(transaction, this.afterCommit);
	}

	private static void failOnce(TransactionExecution transaction, AtomicReference<@Nullable RuntimeException> next) {
		RuntimeException failure = transaction.isNewTransaction() ? next.getAndSet(null) : null;
		if (failure != null) {
			throw failure;
		}
	}

}
