package dev.idempotent.transaction;

import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionTimedOutException;

/**
 * A transaction that the library has begun by a manager of the application, or its part
 * in one of the caller.
 */
public final class TransactionScope {

	private static final Logger logger = LoggerFactory.getLogger(TransactionScope.class);

	private static final int DEEPEST = 20;

	private final PlatformTransactionManager manager;

	private final TransactionStatus status;

	private final ObservedTransaction transaction;

	private final PendingChanges changes;

	private boolean inDoubt;

	private TransactionScope(PlatformTransactionManager manager, TransactionStatus status,
			ObservedTransaction transaction, PendingChanges changes) {
		this.manager = manager;
		this.status = status;
		this.transaction = transaction;
		this.changes = changes;
	}

	/**
	 * Begins a transaction, or joins the transaction of the caller, as the definition
	 * says. If that fails, the thread is left as it was.
	 * @param manager begins it
	 * @param definition its attributes
	 * @return the scope, to be ended on the same thread by {@link #commit()} or
	 * {@link #rollback()}
	 * @throws dev.idempotent.IdempotentConfigurationException if the manager has no
	 * synchronizations
	 * @throws RuntimeException if the manager has begun no transaction
	 */
	public static TransactionScope begin(PlatformTransactionManager manager, TransactionDefinition definition) {
		Set<Object> sessions = PendingChanges.sessions();
		Map<DataSource, ConnectionHolder> outer = TransactionGuard.boundConnections();
		TransactionStatus status = TransactionGuard.begin(manager, definition);
		PendingChanges changes = PendingChanges.of(status, sessions);
		ObservedTransaction transaction = status.isNewTransaction() ? ObservedTransaction.begun(changes, outer)
				: Objects.requireNonNull(ObservedTransaction.current());
		return new TransactionScope(manager, status, transaction, changes);
	}

	/**
	 * Returns the transaction, which the caller may have begun.
	 * @return the transaction
	 */
	public ObservedTransaction transaction() {
		return this.transaction;
	}

	/**
	 * Returns whether the library has begun the transaction, so that the end of the scope
	 * is the end of the transaction.
	 * @return {@code false} in a transaction of the caller
	 */
	public boolean isNew() {
		return this.status.isNewTransaction();
	}

	/**
	 * Returns whether the scope can be rolled back without the transaction of the caller.
	 * @return whether it has a savepoint
	 */
	public boolean hasSavepoint() {
		return this.status.hasSavepoint();
	}

	/**
	 * Returns whether the transaction was marked as rollback-only.
	 * @return whether it can only be rolled back
	 */
	public boolean isRollbackOnly() {
		return this.status.isRollbackOnly();
	}

	/**
	 * Returns whether the scope has ended.
	 * @return whether {@link #commit()} or {@link #rollback()} was called
	 */
	public boolean isEnded() {
		return this.status.isCompleted();
	}

	/**
	 * Returns what the transaction has not written yet.
	 * @return its changes
	 */
	public PendingChanges changes() {
		return this.changes;
	}

	/**
	 * Ends the scope, and commits the transaction if it is new. Only {@link #end()} says
	 * whether it was committed, not that this method returns.
	 * @throws RuntimeException if the manager fails, or a callback does, also one after
	 * the commit
	 */
	public void commit() {
		if (isNew() && !this.transaction.isCalledAtEnd()) {
			rollback();
			throw new IllegalTransactionStateException(
					"The work has removed the synchronizations of its transaction, so its commit would go unnoticed");
		}
		try {
			this.manager.commit(this.status);
		}
		catch (RuntimeException | Error ex) {
			this.inDoubt = this.transaction.mayHaveBegunCommit() && isFailureOfConnection(ex);
			throw ex;
		}
	}

	/**
	 * Rolls back the scope, unless it has ended. Never throws: what cannot be rolled back
	 * ends with the connection. A manager that lets the caller commit
	 * ({@code globalRollbackOnParticipationFailure}) must not do so.
	 */
	public void rollback() {
		if (this.status.isCompleted()) {
			return;
		}
		try {
			if (!hasSavepoint() && !this.transaction.isCalledAtEnd()) {
				// The manager will fail, and reset the connection, which commits.
				this.transaction.rollBackConnections();
			}
			this.status.setRollbackOnly();
			this.manager.rollback(this.status);
		}
		catch (RuntimeException | Error ex) {
			logger.debug("A transaction could not be rolled back; the database rolls it back when the connection ends",
					ex);
			if (isNew() && this.transaction.closeLostConnections()) {
				logger
					.warn("A transaction of this library was rolled back, because other code, such as an interceptor, "
							+ "has ended a transaction around it before it had ended. End that transaction later, or begin "
							+ "it in a filter");
			}
		}
	}

	/**
	 * Returns how a new transaction has ended.
	 * @return the end; {@link End#UNKNOWN} also before it
	 */
	public End end() {
		// JPA reports a rollback if the reply to the commit was lost.
		return (this.inDoubt && this.transaction.end() == End.ROLLED_BACK) ? End.UNKNOWN : this.transaction.end();
	}

	/**
	 * Returns whether the connection may have failed, which hides what the database has
	 * answered.
	 */
	private static boolean isFailureOfConnection(Throwable failure) {
		return Stream
			.<@Nullable Throwable>iterate(failure, Objects::nonNull, (each) -> Objects.requireNonNull(each).getCause())
			.limit(DEEPEST)
			.anyMatch((each) -> each instanceof DataAccessResourceFailureException
					|| each instanceof TransientDataAccessResourceException
					|| each instanceof TransactionTimedOutException || each instanceof IOException
					|| each instanceof SQLNonTransientConnectionException
					|| each instanceof SQLTransientConnectionException || each instanceof SQLRecoverableException
					|| (each instanceof SQLException ex && hidesAnswer(ex.getSQLState())));
	}

	/**
	 * Connection exceptions, "statement completion unknown", and the end of the server or
	 * the session on PostgreSQL.
	 */
	private static boolean hidesAnswer(@Nullable String state) {
		return state == null || state.startsWith("08") || state.equals("40003") || state.startsWith("57P");
	}

}
