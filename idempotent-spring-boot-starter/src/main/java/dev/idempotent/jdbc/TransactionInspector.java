package dev.idempotent.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The connection of the calling thread: whether it is in a transaction, and statements on
 * it. Begins no transactions.
 */
public final class TransactionInspector extends DataSourceTransactionManager {

	/**
	 * The interface of the driver, without a dependency on the driver.
	 */
	private static final @Nullable Class<?> POSTGRESQL = findDriver("org.postgresql.core.BaseConnection");

	private static final @Nullable Method POSTGRESQL_STATE = (POSTGRESQL != null)
			? ReflectionUtils.findMethod(POSTGRESQL, "getTransactionState") : null;

	private final DataSource target;

	/**
	 * Creates an inspector.
	 * @param target the data source whose connections transaction managers bind
	 */
	public TransactionInspector(DataSource target) {
		super(target);
		this.target = target;
	}

	/**
	 * Whether a transaction manager has bound the connection and will commit it. One that
	 * was merely used in a transaction of another resource is synchronized with that, but
	 * is not in a transaction. A JPA transaction manager sets neither mark.
	 * @return {@code false} if there is no connection, or none that is in a transaction
	 */
	public boolean isManaged() {
		return TransactionSynchronizationManager.getResource(this.target) instanceof ConnectionHolder holder
				&& (!holder.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()));
	}

	/**
	 * Returns whether the calling thread has a connection that commits with its
	 * transaction.
	 * @param target the data source whose connections transaction managers bind
	 * @return {@code false} if the transaction is one of another data source
	 */
	public static boolean isBound(DataSource target) {
		return TransactionSynchronizationManager.getResource(target) instanceof ConnectionHolder;
	}

	/**
	 * Runs work on the connection of the calling thread's transaction: the pool may not
	 * have another one.
	 * @param <T> the type of the work's result
	 * @param target the data source whose connections transaction managers bind
	 * @param work what to do with the connection
	 * @return what the work returned
	 */
	public static <T extends @Nullable Object> T join(DataSource target, Function<Connection, T> work) {
		Connection connection = DataSourceUtils.getConnection(target);
		try {
			return work.apply(connection);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, target);
		}
	}

	/**
	 * Rolls back what the connection of the calling thread's transaction has not
	 * committed.
	 * <p>
	 * To be called for a transaction that completes without having announced it
	 * ({@code beforeCompletion}), and not as committed. Spring takes a
	 * {@code TransactionException} that a synchronization throws before the commit for
	 * one of the commit itself: it does not roll back, and resets the connection, which
	 * commits. Does nothing to a connection that JPA has reset after a rollback.
	 * @param target the data source whose connections transaction managers bind
	 */
	public static void rollBack(DataSource target) {
		if (!isBound(target)) {
			// Another connection of the pool has nothing to roll back.
			return;
		}
		boolean unused = join(target, (connection) -> {
			try {
				if (!connection.getAutoCommit()) {
					connection.rollback();
				}
				return true;
			}
			catch (SQLException ex) {
				throw Statements.translate("", ex);
			}
		});
	}

	/**
	 * Begins a transaction. If that fails on a thread that was in none, none is left on
	 * it.
	 * <p>
	 * Spring leaves one open if a {@code TransactionExecutionListener} throws after its
	 * begin.
	 * @param <T> the type of a transaction
	 * @param begin has a manager begin it
	 * @param target the data source whose connections transaction managers bind
	 * @return the transaction
	 */
	public static <T> T begin(Supplier<T> begin, DataSource target) {
		boolean outside = !TransactionSynchronizationManager.isActualTransactionActive();
		Object bound = TransactionSynchronizationManager.getResource(target);
		Set<Object> before = Set.copyOf(TransactionSynchronizationManager.getResourceMap().values());
		try {
			return begin.get();
		}
		catch (RuntimeException | Error ex) {
			// Spring says that there is none if it could not resume what it had
			// suspended.
			if (outside && (TransactionSynchronizationManager.isActualTransactionActive()
					|| TransactionSynchronizationManager.getResource(target) != bound)) {
				endTransaction(target, before);
			}
			throw ex;
		}
	}

	/**
	 * Rolls back a transaction by its manager, or if that does not, what its connection
	 * has not committed.
	 * <p>
	 * Spring does not roll back if a {@code TransactionExecutionListener} throws before,
	 * and resets the connection, which commits. Nor does a manager that lets the caller
	 * commit ({@code globalRollbackOnParticipationFailure}), unless told by the status.
	 * @param manager the manager
	 * @param status the transaction of the calling thread, which is not completed
	 * @param target the data source whose connections transaction managers bind
	 */
	public static void rollBack(PlatformTransactionManager manager, TransactionStatus status, DataSource target) {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int completion) {
					if (completion == STATUS_UNKNOWN) {
						rollBack(target);
					}
				}

			});
		}
		status.setRollbackOnly();
		manager.rollback(status);
	}

	/**
	 * Rolls back what the connection of the calling thread's transaction has not
	 * committed, and closes it, so that its commit fails.
	 * @param target the data source whose connections transaction managers bind
	 */
	public static void preventCommit(DataSource target) {
		boolean unused = join(target, (connection) -> {
			try (connection) {
				connection.rollback();
				return true;
			}
			catch (SQLException ex) {
				throw Statements.translate("", ex);
			}
		});
	}

	/**
	 * Ends a transaction that other code has left open on the calling thread: what the
	 * thread does next would join it, and never commit.
	 * @param target the data source whose connection is rolled back and closed
	 * @return whether there was one
	 */
	public static boolean endLeftTransaction(DataSource target) {
		boolean left = TransactionSynchronizationManager.isActualTransactionActive();
		if (left) {
			endTransaction(target, Set.of());
		}
		return left;
	}

	/**
	 * Ends a transaction that its manager does not.
	 * @param others what the thread had been bound to before it began
	 */
	private static void endTransaction(DataSource target, Set<Object> others) {
		try {
			if (isBound(target)) {
				preventCommit(target);
			}
		}
		finally {
			TransactionSynchronizationManager.clear();
			Map.copyOf(TransactionSynchronizationManager.getResourceMap()).forEach((key, resource) -> {
				if (!others.contains(resource)) {
					TransactionSynchronizationManager.unbindResourceIfPossible(key);
				}
			});
		}
	}

	/**
	 * Returns whether PostgreSQL will commit: it answers the commit of a transaction in
	 * which a statement has failed with a rollback, which its driver does not report. The
	 * driver knows; behind a proxy that hides it, a statement finds out.
	 * @param connection a connection to PostgreSQL
	 * @return {@code false} if the transaction has failed, or the connection
	 */
	public static boolean canCommit(Connection connection) {
		try {
			if (POSTGRESQL != null && POSTGRESQL_STATE != null && connection.isWrapperFor(POSTGRESQL)) {
				Object state = ReflectionUtils.invokeMethod(POSTGRESQL_STATE, connection.unwrap(POSTGRESQL));
				return state != null && !"FAILED".equals(state.toString());
			}
			try (Statement statement = connection.createStatement()) {
				return statement.execute("select 1");
			}
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Finds a type of a driver, without a dependency on it.
	 */
	static @Nullable Class<?> findDriver(String name) {
		return ClassUtils.isPresent(name, TransactionInspector.class.getClassLoader())
				? ClassUtils.resolveClassName(name, TransactionInspector.class.getClassLoader()) : null;
	}

}
