package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.Transaction;
import dev.idempotent.idempotency.jdbc.IdempotencyRecords.RecordStatements;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.jdbc.PendingChanges;
import dev.idempotent.jdbc.TransactionInspector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The transactions of one method, begun by its transaction manager with its attributes.
 */
final class JdbcIdempotencyTransactions implements IdempotencyTransactions {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencyTransactions.class);

	private static final @Nullable Method IS_TEST = findTest();

	private final PlatformTransactionManager manager;

	private final TransactionDefinition definition;

	private final DataSource dataSource;

	private final JdbcIdempotencyStore store;

	private final ClaimQueue queue;

	private final String method;

	private final AtomicBoolean suspensionReported = new AtomicBoolean();

	JdbcIdempotencyTransactions(PlatformTransactionManager manager, TransactionDefinition definition,
			DataSource dataSource, JdbcIdempotencyStore store, ClaimQueue queue, String method) {
		this.manager = manager;
		this.definition = definition;
		this.dataSource = dataSource;
		this.store = store;
		this.queue = queue;
		this.method = method;
	}

	@Override
	public Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			boolean contended) {
		if (!contended) {
			return begin(key, fingerprint, token, lease);
		}
		this.queue.enter(key);
		try {
			return begin(key, fingerprint, token, lease);
		}
		finally {
			this.queue.leave();
		}
	}

	/**
	 * On the connection of a joined transaction: a thread that waits for a second
	 * connection may wait for itself.
	 */
	@Override
	public @Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
		if (!joins()) {
			return this.store.find(key, fingerprint);
		}
		return TransactionInspector.<@Nullable Claim>join(this.dataSource,
				(joined) -> this.store.find(joined, key, fingerprint));
	}

	@Override
	public boolean isCurrent(@Nullable String epoch) {
		return epoch != null && records().isCurrent(epoch);
	}

	@Override
	public Claim completeIfFree(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		try {
			return joined((connection) -> records().claim(connection, key, fingerprint, token, response, retention,
					this.queue.lockTimeout()));
		}
		catch (PessimisticLockingFailureException ex) {
			return new Claim.Pending(Duration.ZERO);
		}
		catch (DataAccessException ex) {
			throw this.store.failure(key, ex);
		}
	}

	@Override
	public boolean isSameResource(IdempotencyTransactions other) {
		return other instanceof JdbcIdempotencyTransactions that && this.manager == that.manager
				&& this.dataSource == that.dataSource;
	}

	/**
	 * Opens a transaction and checks that its database has the table. Logs a warning if
	 * the database does not answer.
	 * @throws dev.idempotent.IdempotentConfigurationException if the manager or the table
	 * is wrong
	 */
	void verify() {
		if (DatabaseRequirements.requireTransactions(this.manager, this.dataSource,
				JdbcTransactionSource.reason(this.method), JdbcTransactionSource.PLACE)) {
			this.store.verify();
		}
	}

	private IdempotencyRecords records() {
		return this.store.records();
	}

	/**
	 * Runs statements on the connection of the transaction. On another one, the record
	 * would not commit with the work.
	 */
	private <T extends @Nullable Object> T joined(Function<Connection, T> verb) {
		if (!TransactionInspector.isBound(this.dataSource)) {
			throw new IllegalTransactionStateException(this.manager.getClass().getName()
					+ " does not open its transactions on the DataSource of the idempotency records");
		}
		return TransactionInspector.join(this.dataSource, verb);
	}

	private boolean joins() {
		return this.definition.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRED
				&& TransactionSynchronizationManager.hasResource(this.dataSource)
				&& TransactionSynchronizationManager.isActualTransactionActive();
	}

	private static void requireRecording(IdempotencyKey key) {
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw unfit(key, "a read-only transaction, which cannot record it");
		}
		if (!TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionInspector.isIn("invokeAfterCommit")) {
			throw unfit(key, "a transaction that has already been committed (by a listener after the commit)");
		}
		if (TransactionInspector.isIn("triggerBeforeCompletion")) {
			throw unfit(key, "a transaction that is about to end (by its beforeCompletion callback)");
		}
	}

	private static IdempotencyStoreException unfit(IdempotencyKey key, String transaction) {
		return new IdempotencyStoreException("Key " + key + " cannot be claimed: its work under Guarantee.TRANSACTION "
				+ "is called in " + transaction + ". Let the work begin its own transaction "
				+ "(Propagation.REQUIRES_NEW), or use Guarantee.LEASE", null);
	}

	private void watchForSuspension() {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void suspend() {
				if (JdbcIdempotencyTransactions.this.suspensionReported.compareAndSet(false, true)) {
					logger.warn(
							"{} suspends its transaction (REQUIRES_NEW or NOT_SUPPORTED): that part of the work is "
									+ "committed separately and may be done twice despite Guarantee.TRANSACTION",
							JdbcIdempotencyTransactions.this.method);
				}
			}

		});
	}

	private Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		boolean inTest = this.definition.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
				&& isInTest();
		boolean joined = inTest || joins();
		if (joined) {
			requireRecording(key);
		}
		if (!inTest && joined && new TransactionInspector(this.dataSource).isOuter()) {
			throw unfit(key, "a transaction of another manager within the one that it would join, "
					+ "which can commit without it");
		}
		Set<Object> outer = PendingChanges.sessions();
		RecordTransaction transaction = new RecordTransaction(open(key, inTest), outer, key, fingerprint, token,
				inTest);
		boolean claimed = false;
		try {
			Transaction claimedTransaction = claim(transaction, key, fingerprint, lease, joined);
			claimed = true;
			return claimedTransaction;
		}
		catch (DataAccessException ex) {
			throw this.store.failure(key, ex);
		}
		finally {
			if (!claimed) {
				transaction.rollback();
			}
		}
	}

	private TransactionStatus open(IdempotencyKey key, boolean inTest) {
		try {
			return TransactionInspector.begin(this.manager, inTest ? joiningTest() : this.definition);
		}
		catch (TransactionException ex) {
			throw new IdempotencyStoreUnavailableException("No transaction could be begun for key " + key, ex);
		}
	}

	private Transaction claim(RecordTransaction transaction, IdempotencyKey key, Fingerprint fingerprint,
			Duration lease, boolean joined) {
		Claim claim;
		try {
			claim = transaction.claim(lease, this.queue.lockTimeout());
		}
		catch (PessimisticLockingFailureException ex) {
			// Another transaction has the key, or had it after this one had begun.
			transaction.rollback();
			Claim found = joined ? null : find(key, fingerprint);
			return transaction.endWith((found != null) ? found : new Claim.Pending(lease));
		}
		if (!claim.isAcquired()) {
			return transaction.endWith(claim);
		}
		if (!joined) {
			watchForSuspension();
		}
		return transaction;
	}

	/**
	 * Returns whether this thread is in the transaction that Spring's test framework has
	 * begun around a test, to roll it back. The handler joins it, so that the rollback
	 * includes its work.
	 */
	private boolean isInTest() {
		return IS_TEST != null && TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.hasResource(this.dataSource)
				&& Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_TEST, null));
	}

	/**
	 * With a savepoint if the manager supports them, so that the work of a failed handler
	 * is rolled back immediately.
	 */
	private TransactionDefinition joiningTest() {
		boolean nests = this.manager instanceof AbstractPlatformTransactionManager some
				&& some.isNestedTransactionAllowed();
		return new DefaultTransactionDefinition(
				nests ? TransactionDefinition.PROPAGATION_NESTED : TransactionDefinition.PROPAGATION_REQUIRED);
	}

	private static @Nullable Method findTest() {
		try {
			return ClassUtils
				.forName("org.springframework.test.context.transaction.TestTransaction",
						JdbcIdempotencyTransactions.class.getClassLoader())
				.getMethod("isActive");
		}
		catch (ReflectiveOperationException | LinkageError ex) {
			return null;
		}
	}

	/**
	 * A transaction of the application's transaction manager that contains the record of
	 * a key. The record is completed by its last statement: a database may roll back the
	 * victim of a deadlock while the work continues unaware; a record that is completed
	 * earlier would not prove that the statements after it were committed. Directly
	 * before the commit, it looks once more: PostgreSQL rolls back what a later
	 * synchronization has made fail, and its driver reports a commit.
	 */
	private final class RecordTransaction implements Transaction, TransactionSynchronization {

		private final TransactionStatus status;

		private final Set<Object> outerSessions;

		private final IdempotencyKey key;

		private final Fingerprint fingerprint;

		private final String token;

		private final boolean provisional;

		private Claim outcome = new Claim.Acquired();

		private @Nullable String epoch;

		/**
		 * The savepoints since the commit was begun.
		 */
		private final List<Object> savepoints = new ArrayList<>();

		/**
		 * Completes the record; set when the commit begins.
		 */
		private Runnable completion = () -> {
		};

		private boolean undone;

		/**
		 * Whether the commit had begun before it was registered, so that it is told of
		 * the completion only.
		 */
		private boolean late;

		private boolean completed;

		private boolean completing;

		private boolean confirmed;

		RecordTransaction(TransactionStatus status, Set<Object> outerSessions, IdempotencyKey key,
				Fingerprint fingerprint, String token, boolean provisional) {
			this.status = status;
			this.outerSessions = outerSessions;
			this.key = key;
			this.fingerprint = fingerprint;
			this.token = token;
			this.provisional = provisional;
		}

		/**
		 * Claims the key on the connection of the transaction.
		 */
		Claim claim(Duration lease, Duration lockTimeout) {
			return joined((connection) -> {
				RecordStatements statements = records().statements(connection);
				Claim claim = records().claim(statements, this.key, this.fingerprint, this.token, null, lease,
						lockTimeout);
				this.epoch = statements.epoch();
				return claim;
			});
		}

		/**
		 * Ends with a claim that was not acquired. A transaction of the caller continues.
		 */
		RecordTransaction endWith(Claim claim) {
			this.outcome = claim;
			if (this.status.isNewTransaction()) {
				rollback();
			}
			else if (!this.status.isCompleted()) {
				JdbcIdempotencyTransactions.this.manager.commit(this.status);
			}
			return this;
		}

		@Override
		public Claim outcome() {
			return this.outcome;
		}

		@Override
		public @Nullable String epoch() {
			return this.epoch;
		}

		@Override
		public boolean isProvisional() {
			return this.provisional;
		}

		@Override
		public boolean isRollbackOnly() {
			return this.status.isRollbackOnly();
		}

		@Override
		public void flushWork() {
			PendingChanges.of(this.status, this.outerSessions).flush();
		}

		@Override
		public void commit(StoredResponse response, Duration retention) {
			try {
				flushWork();
				if (this.provisional) {
					complete(response, retention);
				}
				else {
					this.completion = () -> complete(response, retention);
					this.late = !this.status.isNewTransaction() && TransactionInspector.isIn("triggerBeforeCommit");
					TransactionSynchronizationManager.registerSynchronization(this);
				}
			}
			catch (RuntimeException | Error ex) {
				rollback();
				throw ex;
			}
			JdbcIdempotencyTransactions.this.manager.commit(this.status);
			if (this.status.isNewTransaction() && !isConfirmed()) {
				throw new IdempotencyClaimLostException(this.key);
			}
		}

		@Override
		public boolean isConfirmed() {
			return this.provisional || this.confirmed;
		}

		@Override
		public void rollback() {
			if (this.status.isCompleted()) {
				return;
			}
			try {
				if (this.provisional && !this.status.hasSavepoint() && !this.status.isRollbackOnly()) {
					leaveToTest();
				}
				else {
					TransactionInspector.rollBack(JdbcIdempotencyTransactions.this.manager, this.status,
							JdbcIdempotencyTransactions.this.dataSource);
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The transaction of key {} could not be rolled back; the database rolls it back when the "
						+ "connection ends", this.key, ex);
			}
		}

		/**
		 * Without a savepoint, a rollback would mark the transaction of the test as
		 * rollback-only, so that it could not serve another request.
		 */
		private void leaveToTest() {
			boolean unused = joined((connection) -> records().release(connection, this.key, this.token));
			JdbcIdempotencyTransactions.this.manager.commit(this.status);
		}

		@Override
		public void savepoint(Object savepoint) {
			this.savepoints.add(savepoint);
		}

		/**
		 * Takes note if the transaction was rolled back to a savepoint that is older than
		 * the record.
		 */
		@Override
		public void savepointRollback(Object savepoint) {
			this.undone |= this.savepoints.stream().noneMatch((younger) -> younger == savepoint);
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			if (!this.undone) {
				this.completion.run();
				this.completed = true;
				// Behind those that the others have registered until now.
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCompletion() {
						look();
					}

				});
			}
		}

		/**
		 * Spring goes on with the commit if this fails.
		 */
		@Override
		public void beforeCompletion() {
			this.completing = true;
			if (this.late && !this.completed && !this.undone) {
				try {
					this.completion.run();
					this.completed = joined(this::canCommit);
				}
				finally {
					if (!this.completed) {
						TransactionInspector.preventCommit(JdbcIdempotencyTransactions.this.dataSource);
					}
				}
			}
		}

		/**
		 * Unannounced, or if a listener has kept the manager from a rollback, the work
		 * would be committed without its record.
		 */
		@Override
		public void afterCompletion(int status) {
			boolean notRolledBack = this.completing ? !this.completed && status == STATUS_UNKNOWN
					: status != STATUS_COMMITTED;
			if (notRolledBack) {
				TransactionInspector.rollBack(JdbcIdempotencyTransactions.this.dataSource);
			}
		}

		private void look() {
			this.confirmed = joined(this::canCommit);
		}

		private boolean canCommit(Connection connection) {
			return records().statements(connection).sql().database() != Database.POSTGRESQL
					|| TransactionInspector.canCommit(connection);
		}

		private void complete(StoredResponse response, Duration retention) {
			if (!joined((connection) -> records().completeOwn(connection, this.key, this.fingerprint, this.token,
					response, retention))) {
				throw new IdempotencyClaimLostException(this.key);
			}
		}

	}

}
