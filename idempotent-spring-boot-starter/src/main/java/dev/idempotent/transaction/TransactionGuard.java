package dev.idempotent.transaction;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.ConnectionProxy;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The connections of the calling thread's transactions: which transaction commits them,
 * and what Spring does not do for a transaction whose begin or end has failed.
 */
public final class TransactionGuard {

	/**
	 * The interface of the driver, without a dependency on the driver.
	 */
	private static final @Nullable Class<?> POSTGRESQL = findDriver();

	private static final @Nullable Method POSTGRESQL_STATE = (POSTGRESQL != null)
			? ReflectionUtils.findMethod(POSTGRESQL, "getTransactionState") : null;

	/**
	 * A connection that was merely used in a transaction of another resource is
	 * synchronized with that, but not in a transaction. Spring tells its managers only.
	 */
	private static final Method IN_TRANSACTION = Objects
		.requireNonNull(ReflectionUtils.findMethod(ConnectionHolder.class, "isTransactionActive"));

	private static final @Nullable Method POSTGRESQL_PROCESS = (POSTGRESQL != null)
			? ReflectionUtils.findMethod(POSTGRESQL, "getBackendPID") : null;

	private static final Logger logger = LoggerFactory.getLogger(TransactionGuard.class);

	private static final int VALIDATION_SECONDS = 2;

	/**
	 * How a {@code LazyConnectionDataSourceProxy} describes a connection that no
	 * statement has used.
	 */
	private static final String UNUSED = "Lazy Connection proxy for target DataSource";

	static {
		ReflectionUtils.makeAccessible(IN_TRANSACTION);
	}

	private TransactionGuard() {
	}

	/**
	 * Watches the transactions that a manager begins. Replaces the collection of its
	 * listeners, which other threads may be iterating over, by one that has the watch
	 * behind those that are added later: they may use the connection before the commit.
	 * @param manager a transaction manager
	 */
	public static void watch(ConfigurableTransactionManager manager) {
		if (!(manager instanceof PlatformTransactionManager)) {
			// A reactive transaction has no thread.
			return;
		}
		manager.setTransactionExecutionListeners(new WatchedListeners(manager.getTransactionExecutionListeners()));
	}

	/**
	 * Unwraps proxies that participate in transactions.
	 * @param dataSource a data source
	 * @return the data source whose connections transaction managers bind
	 */
	public static DataSource target(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? target(proxy.getTargetDataSource()) : dataSource;
	}

	/**
	 * Returns whether the transaction whose synchronizations are active commits the
	 * connection to a data source.
	 * @param dataSource the data source whose connections transaction managers bind
	 * @return {@code false} if there is no such connection, or that is not known
	 */
	public static boolean isCurrent(DataSource dataSource) {
		ConnectionHolder own = managed(dataSource);
		return own != null && !isOuter(own);
	}

	/**
	 * Returns whether the connection to a data source is in a transaction around the one
	 * whose synchronizations are active, or may be.
	 * @param dataSource the data source whose connections transaction managers bind
	 * @return {@code false} if there is no connection, or it is in no other transaction
	 */
	public static boolean isOuter(DataSource dataSource) {
		ConnectionHolder own = managed(dataSource);
		return own != null && isOuter(own);
	}

	/**
	 * Returns whether a manager would begin a transaction on a connection that another
	 * manager, such as one of JPA, has bound and will commit.
	 * @param manager a manager of connections
	 * @param dataSource the data source whose connections transaction managers bind
	 * @return {@code false} if it would join that transaction, or use another connection
	 */
	public static boolean takesOver(PlatformTransactionManager manager, DataSource dataSource) {
		return manager instanceof ResourceTransactionManager resource && resource.getResourceFactory() == dataSource
				&& TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder
				&& !holder.isSynchronizedWithTransaction()
				&& Boolean.FALSE.equals(ReflectionUtils.invokeMethod(IN_TRANSACTION, holder));
	}

	/**
	 * Returns whether the calling thread has a connection in a transaction whose manager
	 * has no synchronizations.
	 */
	static boolean hasUnobservable() {
		return !TransactionSynchronizationManager.isActualTransactionActive() && boundConnections().keySet()
			.stream()
			.anyMatch(
					(dataSource) -> managed(dataSource) != null && join(dataSource, TransactionGuard::isInTransaction));
	}

	private static boolean isInTransaction(Connection connection) {
		try {
			return !connection.getAutoCommit();
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

	/**
	 * A manager that is not a bean does not tell of its transactions: each of several
	 * connections may belong to an outer transaction.
	 */
	private static boolean isOuter(ConnectionHolder own) {
		ObservedTransaction observed = ObservedTransaction.bound();
		Boolean known = (observed != null) ? observed.isOuter(own) : null;
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
					&& resource.getKey() instanceof DataSource dataSource && managed(dataSource) != null)
			.map(Map.Entry::getValue);
	}

	/**
	 * Returns the connection that a transaction manager has bound and will commit. A JPA
	 * transaction manager sets neither mark.
	 */
	static @Nullable ConnectionHolder managed(DataSource dataSource) {
		return (TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder
				&& (!holder.isSynchronizedWithTransaction()
						|| Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IN_TRANSACTION, holder)))) ? holder : null;
	}

	/**
	 * Returns the connections to which the calling thread is bound.
	 */
	static Map<DataSource, ConnectionHolder> boundConnections() {
		Map<DataSource, ConnectionHolder> found = new LinkedHashMap<>();
		TransactionSynchronizationManager.getResourceMap().forEach((key, resource) -> {
			if (resource instanceof ConnectionHolder holder && key instanceof DataSource dataSource) {
				found.put(dataSource, holder);
			}
		});
		return found;
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
	 * Rolls back what the connections of a transaction have not committed, before they
	 * are reset, which commits.
	 * @param dataSources the data sources
	 * @param sessions the sessions of the database before a commit, if one may have begun
	 * @return whether that is done in these sessions: {@code false} also if there is no
	 * connection, or one was reset before
	 */
	static boolean rollBackAll(Set<DataSource> dataSources, Map<DataSource, String> sessions) {
		boolean done = !dataSources.isEmpty();
		for (DataSource dataSource : dataSources) {
			try {
				// Another connection of the pool has nothing to roll back.
				done &= isBound(dataSource) && join(dataSource,
						(connection) -> rollBack(connection) && isSame(sessions.get(dataSource), connection));
			}
			catch (RuntimeException | Error ex) {
				logger.debug("A connection could not be rolled back", ex);
				done = false;
			}
		}
		return done;
	}

	/**
	 * Rolls back and closes connections to which the calling thread is not bound.
	 * @param connections those that a manager has not released
	 * @return whether there was one that was open
	 */
	static boolean closeUnbound(Map<DataSource, ConnectionHolder> connections) {
		boolean closed = false;
		for (Map.Entry<DataSource, ConnectionHolder> each : connections.entrySet()) {
			if (TransactionSynchronizationManager.getResource(each.getKey()) != each.getValue()) {
				closed |= closeInTransaction(each.getValue(), each.getKey());
			}
		}
		return closed;
	}

	private static boolean closeInTransaction(ConnectionHolder holder, DataSource dataSource) {
		boolean lost = false;
		try {
			Connection connection = holder.getConnection();
			// A connection that was released is closed, or commits each statement again.
			lost = !connection.isClosed() && !connection.getAutoCommit();
			if (lost) {
				try {
					connection.rollback();
				}
				finally {
					DataSourceUtils.doCloseConnection(connection, dataSource);
				}
			}
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("A connection could not be rolled back", ex);
		}
		return lost;
	}

	/**
	 * Finds out which sessions of the database a transaction has.
	 * @return what identifies the session of each connection
	 */
	static Map<DataSource, String> sessions(Set<DataSource> dataSources) {
		Map<DataSource, String> sessions = new HashMap<>();
		dataSources.stream()
			.filter(TransactionGuard::isBound)
			.forEach((dataSource) -> sessions.put(dataSource, join(dataSource, TransactionGuard::session)));
		return sessions;
	}

	/**
	 * Identifies a session: another connection, or one that the driver has connected
	 * again, is another one.
	 */
	private static String session(Connection connection) {
		try {
			if (POSTGRESQL != null && POSTGRESQL_PROCESS != null && !isUnused(connection)
					&& connection.isWrapperFor(POSTGRESQL)) {
				Object process = ReflectionUtils.invokeMethod(POSTGRESQL_PROCESS, connection.unwrap(POSTGRESQL));
				return System.identityHashCode(connection) + "/" + process;
			}
		}
		catch (SQLException ex) {
			logger.debug("The session of a connection is not known", ex);
		}
		return String.valueOf(System.identityHashCode(connection));
	}

	private static boolean isSame(@Nullable String before, Connection connection) {
		return before == null || before.equals(session(connection));
	}

	private static boolean rollBack(Connection connection) {
		try {
			if (connection.getAutoCommit()) {
				return false;
			}
			connection.rollback();
			return true;
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

	/**
	 * Returns whether the connections of a transaction still answer.
	 * @param dataSources the data sources
	 * @param sessions as for {@link #rollBackAll}
	 * @return {@code true} also if there are none
	 */
	static boolean areValid(Set<DataSource> dataSources, Map<DataSource, String> sessions) {
		return dataSources.stream()
			.filter(TransactionGuard::isBound)
			.allMatch((dataSource) -> isValid(dataSource, sessions.get(dataSource)));
	}

	private static boolean isValid(DataSource dataSource, @Nullable String session) {
		try {
			return join(dataSource, (connection) -> {
				try {
					return isUnused(connection)
							|| (connection.isValid(VALIDATION_SECONDS) && isSame(session, connection));
				}
				catch (SQLException ex) {
					return false;
				}
			});
		}
		catch (RuntimeException ex) {
			return false;
		}
	}

	/**
	 * Begins a transaction, of which its synchronizations will tell how it has ended. If
	 * that fails, the thread is left as it was, but for an {@code EntityManager} that was
	 * bound before and that the manager has used.
	 * <p>
	 * Spring leaves the transaction open if a {@code TransactionExecutionListener} throws
	 * after the begin, and then cannot resume the outer transaction that it has
	 * suspended.
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
				// The manager of a test may be a mock.
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
	 * Rolls back what the connections of a transaction have not committed, and closes
	 * them, so that its commit fails.
	 * @param dataSources the data sources
	 * @return whether all of them were rolled back
	 */
	static boolean preventCommit(Set<DataSource> dataSources) {
		boolean done = !dataSources.isEmpty();
		for (DataSource dataSource : dataSources) {
			done &= isBound(dataSource) && preventCommit(dataSource);
		}
		return done;
	}

	private static boolean preventCommit(DataSource dataSource) {
		return join(dataSource, (connection) -> {
			try (Connection closed = connection) {
				return rollBack(closed);
			}
			catch (SQLException ex) {
				throw Statements.translate("", ex);
			}
		});
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
					boolean unused = preventCommit(dataSource);
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
	 * Returns whether the database will commit: PostgreSQL answers the commit of a
	 * transaction in which a statement has failed with a rollback. Its driver knows;
	 * behind a proxy that hides the driver, a statement finds out.
	 * @param dataSources those on which the transaction has written
	 * @return {@code false} if a transaction has failed, or its connection
	 */
	static boolean canCommit(Set<DataSource> dataSources) {
		return dataSources.stream()
			.allMatch((dataSource) -> isBound(dataSource) && join(dataSource, TransactionGuard::canCommit));
	}

	/**
	 * Returns whether the database will commit what was written on a connection.
	 * @param connection a connection in a transaction
	 * @return {@code false} if the transaction has failed, or the connection
	 */
	public static boolean canCommit(Connection connection) {
		try {
			if (isUnused(connection)) {
				return true;
			}
			if (POSTGRESQL != null && POSTGRESQL_STATE != null && connection.isWrapperFor(POSTGRESQL)) {
				Object state = ReflectionUtils.invokeMethod(POSTGRESQL_STATE, connection.unwrap(POSTGRESQL));
				return state != null && !"FAILED".equals(state.toString());
			}
			if (!Database.find(connection).equals(Optional.of(Database.POSTGRESQL))) {
				return true;
			}
			try (Statement statement = connection.createStatement()) {
				return statement.execute("select 1");
			}
		}
		catch (SQLException | RuntimeException ex) {
			return false;
		}
	}

	/**
	 * Returns whether a proxy has not fetched the connection yet. Each call of a method
	 * would fetch it, except for {@code toString()}, which afterwards returns the text of
	 * the connection.
	 */
	private static boolean isUnused(Connection connection) {
		return connection instanceof ConnectionProxy && connection.toString().startsWith(UNUSED);
	}

	private static @Nullable Class<?> findDriver() {
		String name = "org.postgresql.core.BaseConnection";
		return ClassUtils.isPresent(name, TransactionGuard.class.getClassLoader())
				? ClassUtils.resolveClassName(name, TransactionGuard.class.getClassLoader()) : null;
	}

	/**
	 * Listeners of which the watch is the last one.
	 */
	private static final class WatchedListeners extends CopyOnWriteArrayList<TransactionExecutionListener> {

		WatchedListeners(Collection<TransactionExecutionListener> listeners) {
			super(Stream
				.concat(listeners.stream().filter((listener) -> listener != TransactionWatch.LISTENER),
						Stream.of(TransactionWatch.LISTENER))
				.toList());
		}

		@Override
		public boolean add(TransactionExecutionListener listener) {
			if (listener != TransactionWatch.LISTENER) {
				add(size() - 1, listener);
			}
			return true;
		}

		@Override
		public boolean addAll(Collection<? extends TransactionExecutionListener> listeners) {
			listeners.forEach(this::add);
			return true;
		}

	}

}
