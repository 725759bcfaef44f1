package dev.idempotent.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
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
		// Another connection of the pool has nothing to roll back.
		if (isBound(target)) {
			rollBack(target, false);
		}
	}

	private static void rollBack(DataSource target, boolean closes) {
		boolean unused = join(target, (connection) -> {
			Connection closed = closes ? connection : null;
			try (closed) {
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
	 * Begins a transaction, of which its synchronizations will tell how it has ended. If
	 * that fails, the thread is left as it was, but for an {@code EntityManager} that was
	 * bound before and that the manager has used.
	 * <p>
	 * Spring leaves the transaction open if a {@code TransactionExecutionListener} throws
	 * after its begin, and cannot resume what it has suspended for it.
	 * @param manager begins it
	 * @param definition its attributes
	 * @return the transaction
	 * @throws IdempotentConfigurationException if the manager has no synchronizations
	 */
	public static TransactionStatus begin(PlatformTransactionManager manager, TransactionDefinition definition) {
		Map<Object, Object> resources = Map.copyOf(TransactionSynchronizationManager.getResourceMap());
		List<TransactionSynchronization> around = synchronizations();
		boolean active = TransactionSynchronizationManager.isActualTransactionActive();
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		String name = TransactionSynchronizationManager.getCurrentTransactionName();
		try {
			TransactionStatus status = manager.getTransaction(definition);
			if (status == null) {
				// That of a test may be a mock.
				throw new IllegalTransactionStateException(manager.getClass().getName() + " has begun no transaction");
			}
			requireSynchronizations(manager, status);
			return status;
		}
		catch (RuntimeException | Error ex) {
			boolean suspended = !Objects.equals(around, synchronizations());
			if (suspended || !resources.entrySet()
				.containsAll(TransactionSynchronizationManager.getResourceMap().entrySet())) {
				endTransaction(resources, ex::addSuppressed);
				TransactionSynchronizationManager.setActualTransactionActive(active);
				TransactionSynchronizationManager.setCurrentTransactionReadOnly(readOnly);
				TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(isolation);
				TransactionSynchronizationManager.setCurrentTransactionName(name);
				resume(resources, around, suspended, ex::addSuppressed);
			}
			throw ex;
		}
	}

	private static void resume(Map<Object, Object> resources, @Nullable List<TransactionSynchronization> around,
			boolean suspended, Consumer<Throwable> failed) {
		if (around != null) {
			TransactionSynchronizationManager.initSynchronization();
			around.forEach(TransactionSynchronizationManager::registerSynchronization);
			for (TransactionSynchronization synchronization : suspended ? around
					: List.<TransactionSynchronization>of()) {
				try {
					synchronization.resume();
				}
				catch (RuntimeException | Error ex) {
					failed.accept(ex);
				}
			}
		}
		resources.forEach((key, resource) -> {
			if (!TransactionSynchronizationManager.hasResource(key)) {
				TransactionSynchronizationManager.bindResource(key, resource);
			}
		});
	}

	private static @Nullable List<TransactionSynchronization> synchronizations() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				? TransactionSynchronizationManager.getSynchronizations() : null;
	}

	private static void requireSynchronizations(PlatformTransactionManager manager, TransactionStatus status) {
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			manager.rollback(status);
			throw new IdempotentConfigurationException(
					"The transaction manager (" + manager.getClass().getName()
							+ ") has no synchronizations, so it never reports a commit.",
					"Leave its transactionSynchronization at the default, SYNCHRONIZATION_ALWAYS.");
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
		rollBack(target, true);
	}

	/**
	 * Ends a transaction that other code has left open on the calling thread: what the
	 * thread does next would join it, and never commit.
	 * @param failed told if a connection could not be rolled back, or closed
	 * @return whether there was one
	 */
	public static boolean endLeftTransaction(Consumer<Throwable> failed) {
		boolean left = TransactionSynchronizationManager.isActualTransactionActive();
		if (left) {
			endTransaction(Map.of(), failed);
		}
		return left;
	}

	/**
	 * Ends a transaction that its manager does not.
	 * @param others what the thread had been bound to before it began
	 */
	private static void endTransaction(Map<Object, Object> others, Consumer<Throwable> failed) {
		Map<Object, Object> own = new HashMap<>(TransactionSynchronizationManager.getResourceMap());
		own.entrySet().removeAll(others.entrySet());
		own.forEach((key, resource) -> {
			try {
				if (resource instanceof ConnectionHolder && key instanceof DataSource dataSource) {
					preventCommit(dataSource);
				}
			}
			catch (RuntimeException | Error ex) {
				failed.accept(ex);
			}
			TransactionSynchronizationManager.unbindResourceIfPossible(key);
		});
		TransactionSynchronizationManager.clear();
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
