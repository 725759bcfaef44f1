package dev.idempotent.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.SmartTransactionObject;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

/**
 * Binds no connection and reports as a {@code JtaTransactionManager} does. Its data
 * source enlists each connection in the transaction of the thread, which alone can end
 * it.
 */
final class JtaLikeTransactionManager extends AbstractPlatformTransactionManager {

	private final DataSource real;

	private final Map<Thread, Global> current = new ConcurrentHashMap<>();

	JtaLikeTransactionManager(DataSource real) {
		this.real = real;
	}

	/**
	 * The data source for the work.
	 */
	DataSource dataSource() {
		return new DelegatingDataSource(this.real) {

			@Override
			public Connection getConnection() throws SQLException {
				Global global = JtaLikeTransactionManager.this.current.get(Thread.currentThread());
				return (global != null) ? enlisted(global.connection()) : super.getConnection();
			}

		};
	}

	/**
	 * Whether the thread has a transaction that nothing has ended.
	 */
	boolean isOpen() {
		return this.current.get(Thread.currentThread()) != null;
	}

	/**
	 * Begins a transaction without Spring, as a container does.
	 */
	void beginOutside() {
		this.current.put(Thread.currentThread(), new Global(this.real));
	}

	/**
	 * Ends the transaction of the thread without Spring.
	 */
	void endOutside(boolean commit) {
		Global global = Objects.requireNonNull(this.current.get(Thread.currentThread()));
		this.current.remove(Thread.currentThread());
		global.end(commit);
	}

	private static Connection enlisted(Connection connection) {
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					switch (method.getName()) {
						case "close" -> {
							return null;
						}
						case "commit", "rollback", "setAutoCommit" ->
							throw new SQLException("The connection is enlisted");
						default -> {
							try {
								return method.invoke(connection, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getTargetException();
							}
						}
					}
				});
	}

	@Override
	protected Object doGetTransaction() {
		return new Handle(this.current.get(Thread.currentThread()));
	}

	@Override
	protected boolean isExistingTransaction(Object transaction) {
		return ((Handle) transaction).global != null;
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		Global global = new Global(this.real);
		this.current.put(Thread.currentThread(), global);
		((Handle) transaction).global = global;
	}

	@Override
	protected Object doSuspend(Object transaction) {
		Global suspended = Objects.requireNonNull(this.current.get(Thread.currentThread()));
		this.current.remove(Thread.currentThread());
		((Handle) transaction).global = null;
		return suspended;
	}

	@Override
	protected void doResume(@Nullable Object transaction, Object suspended) {
		this.current.put(Thread.currentThread(), (Global) suspended);
	}

	@Override
	protected boolean shouldCommitOnGlobalRollbackOnly() {
		return true;
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		endOutside(true);
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
		endOutside(false);
	}

	@Override
	protected void doSetRollbackOnly(DefaultTransactionStatus status) {
		((Handle) status.getTransaction()).require().rollbackOnly = true;
	}

	@Override
	protected void registerAfterCompletionWithExistingTransaction(Object transaction,
			List<TransactionSynchronization> synchronizations) {
		((Handle) transaction).require().synchronizations.addAll(synchronizations);
	}

	private static final class Handle implements SmartTransactionObject {

		private @Nullable Global global;

		Handle(@Nullable Global global) {
			this.global = global;
		}

		Global require() {
			return Objects.requireNonNull(this.global);
		}

		@Override
		public boolean isRollbackOnly() {
			return this.global != null && this.global.rollbackOnly;
		}

	}

	/**
	 * The transaction.
	 */
	private static final class Global {

		private final DataSource real;

		private final List<TransactionSynchronization> synchronizations = new ArrayList<>();

		private @Nullable Connection connection;

		private boolean rollbackOnly;

		Global(DataSource real) {
			this.real = real;
		}

		Connection connection() throws SQLException {
			Connection known = this.connection;
			if (known == null) {
				known = this.real.getConnection();
				known.setAutoCommit(false);
				this.connection = known;
			}
			return known;
		}

		void end(boolean commit) {
			int status = TransactionSynchronization.STATUS_UNKNOWN;
			try (Connection ended = connection()) {
				if (commit && !this.rollbackOnly) {
					commit(ended);
					status = TransactionSynchronization.STATUS_COMMITTED;
				}
				else {
					ended.rollback();
					status = TransactionSynchronization.STATUS_ROLLED_BACK;
				}
				if (commit && this.rollbackOnly) {
					throw new UnexpectedRollbackException("The transaction was marked as rollback-only");
				}
			}
			catch (SQLException ex) {
				throw new TransactionSystemException("The resource manager has failed", ex);
			}
			finally {
				complete(status);
			}
		}

		private static void commit(Connection connection) throws SQLException {
			try {
				connection.commit();
			}
			catch (SQLException ex) {
				String state = ex.getSQLState();
				if (state != null && (state.startsWith("23") || state.startsWith("25"))) {
					connection.rollback();
					throw new UnexpectedRollbackException("The commit was refused", ex);
				}
				throw ex;
			}
		}

		/**
		 * As {@code JtaAfterCompletionSynchronization} does.
		 */
		private void complete(int status) {
			if (status == TransactionSynchronization.STATUS_COMMITTED) {
				TransactionSynchronizationUtils.invokeAfterCommit(this.synchronizations);
			}
			TransactionSynchronizationUtils.invokeAfterCompletion(this.synchronizations, status);
		}

	}

}
