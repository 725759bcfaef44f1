package dev.idempotent.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
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
	 * Watches the transactions that a manager begins, to know which are outer ones.
	 * Replaces the collection of its listeners, which other threads may be iterating
	 * over.
	 * @param manager a transaction manager
	 * @param more further listeners
	 */
	public static void watch(ConfigurableTransactionManager manager, TransactionExecutionListener... more) {
		Set<TransactionExecutionListener> all = new LinkedHashSet<>(manager.getTransactionExecutionListeners());
		all.add(OuterTransactions.LISTENER);
		all.addAll(List.of(more));
		manager.setTransactionExecutionListeners(all);
	}

	/**
	 * Returns whether the transaction whose synchronizations are active commits the
	 * connection.
	 * @return {@code false} if there is no such connection, or that is not known
	 */
	public boolean isCurrent() {
		ConnectionHolder own = managed();
		return own != null && !isOuter(own);
	}

	/**
	 * Returns whether the connection is in a transaction around the one whose
	 * synchronizations are active, or may be.
	 * @return {@code false} if there is no connection, or it is in no other transaction
	 */
	public boolean isOuter() {
		ConnectionHolder own = managed();
		return own != null && isOuter(own);
	}

	/**
	 * A manager that is not a bean does not tell of its transactions: each of several
	 * connections may be that of an outer one.
	 */
	private static boolean isOuter(ConnectionHolder own) {
		Boolean known = OuterTransactions.include(own);
		return (known != null) ? known : connections(Set.of(own)).findAny().isPresent();
	}

	/**
	 * Returns the connections of the transactions of the calling thread, without those
	 * that were merely used in one.
	 * @param known those to leave out
	 */
	static Stream<Object> connections(Set<Object> known) {
		return TransactionSynchronizationManager.getResourceMap()
			.entrySet()
			.stream()
			.filter((resource) -> resource.getValue() instanceof ConnectionHolder holder && !known.contains(holder)
					&& resource.getKey() instanceof DataSource dataSource
					&& new TransactionInspector(dataSource).managed() != null)
			.map(Map.Entry::getValue);
	}

	/**
	 * Returns the connection that a transaction manager has bound and will commit. One
	 * that was merely used in a transaction of another resource is synchronized with
	 * that, but is not in a transaction. A JPA transaction manager sets neither mark.
	 */
	private @Nullable ConnectionHolder managed() {
		return (TransactionSynchronizationManager.getResource(this.target) instanceof ConnectionHolder holder
				&& (!holder.isSynchronizedWithTransaction() || isExistingTransaction(doGetTransaction()))) ? holder
						: null;
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
	 * Returns whether the calling thread is in a callback of the current transaction's
	 * end, not in another transaction that has begun in one. Spring calls those that are
	 * registered when a phase begins, and does not tell which phase that is.
	 * @param phase how the callbacks are called: {@code triggerBeforeCommit},
	 * {@code triggerBeforeCompletion} or {@code invokeAfterCommit}
	 * @return {@code true} also if a callback of the same class is registered with such
	 * another transaction
	 */
	public static boolean isIn(String phase) {
		return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk((frames) -> {
			Class<?> called = null;
			for (StackWalker.StackFrame frame : (Iterable<StackWalker.StackFrame>) frames::iterator) {
				if (frame.getDeclaringClass() == TransactionSynchronizationUtils.class
						&& frame.getMethodName().equals(phase) && isRegistered(called)) {
					return true;
				}
				called = frame.getDeclaringClass();
			}
			return false;
		});
	}

	private static boolean isRegistered(@Nullable Class<?> callback) {
		List<TransactionSynchronization> registered = synchronizations();
		return callback != null && registered != null && registered.stream().anyMatch(callback::isInstance);
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

	/**
	 * Knows which connections belong to transactions around the current one. A manager
	 * that begins a transaction suspends the synchronizations of one on another database,
	 * but leaves its connection bound to the thread: what is written there commits with
	 * the outer transaction, whereas synchronizations are told of the end of the inner
	 * one.
	 * <p>
	 * Costs a transaction without an outer one nothing.
	 */
	private static final class OuterTransactions implements TransactionExecutionListener {

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
			return (TransactionSynchronizationManager.getResource(KEY) instanceof Set<?> outer)
					? outer.contains(connection) : null;
		}

	}

}
