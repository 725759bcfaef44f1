package dev.idempotent.transaction;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Knows which connections belong to transactions around the current one. A manager that
 * begins a transaction suspends the synchronizations of one on another database, but
 * leaves its connection bound to the thread: what is written there commits with the outer
 * transaction, whereas synchronizations are told of the end of the inner one.
 * <p>
 * Costs a transaction without an outer one nothing.
 */
final class OuterTransactions implements TransactionExecutionListener {

	static final OuterTransactions LISTENER = new OuterTransactions();

	private static final Object KEY = new Object();

	private OuterTransactions() {
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		Map<Object, Object> resources = TransactionSynchronizationManager.getResourceMap();
		if (transaction.isNewTransaction() && !resources.isEmpty()) {
			Set<Object> connections = resources.values()
				.stream()
				.filter(ConnectionHolder.class::isInstance)
				.collect(Collectors.toSet());
			// A transaction whose completion was never reported may have left others.
			unbind();
			if (!connections.isEmpty()) {
				TransactionSynchronizationManager.bindResource(KEY, connections);
			}
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (transaction.isNewTransaction()
				&& TransactionSynchronizationManager.getResource(KEY) instanceof Set<?> outer) {
			if (failure != null || !TransactionSynchronizationManager.isSynchronizationActive()) {
				unbind();
				return;
			}
			if (transaction instanceof DefaultTransactionStatus status
					&& status.getTransaction() instanceof JdbcTransactionObjectSupport own
					&& own.hasConnectionHolder()) {
				// JPA's connection to the same database, which this manager commits.
				outer.remove(own.getConnectionHolder());
			}
			keepBound(outer);
		}
	}

	/**
	 * While the synchronizations of the inner transaction are active.
	 */
	private static void keepBound(Set<?> outer) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void suspend() {
				unbind();
			}

			@Override
			public void resume() {
				TransactionSynchronizationManager.bindResource(KEY, outer);
			}

			@Override
			public void afterCompletion(int status) {
				unbind();
			}

		});
	}

	private static void unbind() {
		TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
	}

	/**
	 * Returns whether a connection belongs to an outer transaction.
	 * @return {@code null} if that is not known
	 */
	static @Nullable Boolean include(ConnectionHolder connection) {
		return (TransactionSynchronizationManager.getResource(KEY) instanceof Set<?> outer) ? outer.contains(connection)
				: null;
	}

}
