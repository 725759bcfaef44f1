package dev.idempotent.transaction;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Observes the transactions of managers from their begin: only then is it certain which
 * connections they commit, and in which phase they are. Called last before a commit,
 * behind all synchronizations; an exception thrown here rolls back.
 */
final class TransactionWatch implements TransactionExecutionListener {

	static final TransactionWatch LISTENER = new TransactionWatch();

	/**
	 * What a thread had before the transactions that it begins, the last one first: a
	 * listener of the application may begin another one within the begin.
	 */
	private static final ThreadLocal<@Nullable Before> BEFORE = new ThreadLocal<>();

	private TransactionWatch() {
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		// A nested transaction without a savepoint shares the synchronizations around it.
		if (transaction.isNewTransaction() && !TransactionSynchronizationManager.isSynchronizationActive()) {
			BEFORE.set(new Before(new WeakReference<>(transaction), PendingChanges.sessions(),
					TransactionGuard.boundConnections(), Before.known(BEFORE.get())));
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (!transaction.isNewTransaction()) {
			return;
		}
		Before before = takeBefore(transaction);
		if (before == null || failure != null || !TransactionSynchronizationManager.isSynchronizationActive()) {
			return;
		}
		Map<DataSource, ConnectionHolder> own = TransactionGuard.boundConnections();
		ConnectionHolder used = (transaction instanceof DefaultTransactionStatus status
				&& status.getTransaction() instanceof JdbcTransactionObjectSupport jdbc && jdbc.hasConnectionHolder())
						? jdbc.getConnectionHolder() : null;
		// A connection that JPA has bound before can be the one that this manager
		// commits, and a listener may have used another one.
		own.entrySet()
			.removeIf((bound) -> bound.getValue() != used
					&& Objects.equals(before.connections().get(bound.getKey()), bound.getValue()));
		own.keySet().removeIf((dataSource) -> TransactionGuard.managed(dataSource) == null);
		ObservedTransaction.watched(transaction, PendingChanges.of(transaction, before.sessions()), own);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		ObservedTransaction observed = transaction.isNewTransaction() ? ObservedTransaction.of(transaction) : null;
		if (observed != null) {
			try {
				observed.requireWritten();
			}
			catch (TransactionException ex) {
				// Spring would treat the exception as one of the commit, and not roll
				// back.
				throw new IllegalStateException("The transaction is rolled back", ex);
			}
		}
	}

	/**
	 * Forgets those that have begun within it, too.
	 */
	private static @Nullable Before takeBefore(TransactionExecution transaction) {
		Before found = BEFORE.get();
		while (found != null && found.transaction().get() != transaction) {
			found = found.outer();
		}
		Before outer = (found != null) ? Before.known(found.outer()) : null;
		if (outer != null) {
			BEFORE.set(outer);
		}
		else if (found != null) {
			BEFORE.remove();
		}
		return found;
	}

	private record Before(WeakReference<TransactionExecution> transaction, Set<Object> sessions,
			Map<DataSource, ConnectionHolder> connections, @Nullable Before outer) {

		/**
		 * Leaves out transactions that a listener has kept from beginning.
		 */
		static @Nullable Before known(@Nullable Before last) {
			Before known = last;
			while (known != null && known.transaction().get() == null) {
				known = known.outer();
			}
			return known;
		}

	}

}
