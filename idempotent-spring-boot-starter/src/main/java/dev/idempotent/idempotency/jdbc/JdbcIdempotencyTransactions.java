package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.time.Duration;
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
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionGuard;
import dev.idempotent.transaction.TransactionParticipant;
import dev.idempotent.transaction.TransactionRequirements;
import dev.idempotent.transaction.TransactionScope;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
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

	/**
	 * How long PostgreSQL keeps a transaction whose process does not answer, and lets it
	 * wait for a lock.
	 */
	private final Duration longestWait;

	private final String method;

	private final AtomicBoolean suspensionReported = new AtomicBoolean();

	JdbcIdempotencyTransactions(PlatformTransactionManager manager, TransactionDefinition definition,
			DataSource dataSource, JdbcIdempotencyStore store, ClaimQueue queue, Duration maxRun, String method) {
		this.manager = manager;
		this.definition = definition;
		this.dataSource = dataSource;
		this.store = store;
		this.queue = queue;
		int timeout = definition.getTimeout();
		this.longestWait = (timeout > 0 && timeout < maxRun.toSeconds()) ? Duration.ofSeconds(timeout) : maxRun;
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
	 * Uses the connection of a joined transaction: a thread that waits for a second
	 * connection may wait for itself.
	 */
	@Override
	public @Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
		if (!joins()) {
			return this.store.find(key, fingerprint);
		}
		return TransactionGuard.<@Nullable Claim>join(this.dataSource,
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

	@Override
	public Claim completeAtOnce(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return this.store.completeAtOnce(key, fingerprint, token, response, retention);
	}

	/**
	 * Opens a transaction and checks that its database has the table. Logs a warning if
	 * the database does not answer.
	 * @throws dev.idempotent.IdempotentConfigurationException if the manager or the table
	 * is wrong
	 */
	void verify() {
		if (TransactionRequirements.requireTransactions(this.manager, this.dataSource,
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
		if (!TransactionGuard.isBound(this.dataSource)) {
			throw new IllegalTransactionStateException(this.manager.getClass().getName()
					+ " does not open its transactions on the DataSource of the idempotency records");
		}
		return TransactionGuard.join(this.dataSource, verb);
	}

	private boolean joins() {
		return this.definition.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRED
				&& TransactionSynchronizationManager.hasResource(this.dataSource)
				&& TransactionSynchronizationManager.isActualTransactionActive();
	}

	private static void requireRecording(IdempotencyKey key) {
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw refusal(key, "a read-only transaction, which cannot record it");
		}
		ObservedTransaction transaction = ObservedTransaction.current();
		if (transaction == null || transaction.isCommitted()) {
			throw refusal(key, "a transaction that has already been committed (by a listener after the commit)");
		}
		if (transaction.isCompleting()) {
			throw refusal(key, "a transaction that is about to end (by its beforeCompletion callback)");
		}
	}

	private static IdempotencyStoreException refusal(IdempotencyKey key, String transaction) {
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
		if (!inTest && joined && TransactionGuard.isOuter(this.dataSource)) {
			throw refusal(key, "a transaction of another manager within the one that it would join, "
					+ "which can commit without it");
		}
		if (!inTest && joined && TransactionGuard.takesOver(this.manager, this.dataSource)) {
			throw refusal(key, "a transaction of another manager on the same DataSource, "
					+ "whose connection would be committed");
		}
		RecordTransaction transaction = new RecordTransaction(open(key, inTest), key, fingerprint, token, inTest);
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

	private TransactionScope open(IdempotencyKey key, boolean inTest) {
		try {
			return TransactionScope.begin(this.manager, inTest ? joiningTest() : this.definition);
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
	 * Sets a savepoint if the manager supports savepoints, so that the work of a failed
	 * handler is rolled back immediately.
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
	 * earlier would not prove that the statements after it were committed.
	 */
	private final class RecordTransaction implements Transaction, TransactionParticipant {

		private final TransactionScope scope;

		private final IdempotencyKey key;

		private final Fingerprint fingerprint;

		private final String token;

		private final boolean provisional;

		private Claim outcome = new Claim.Acquired();

		private @Nullable String epoch;

		/**
		 * Whether the transaction was rolled back to a savepoint that is older than the
		 * record.
		 */
		private boolean undone;

		RecordTransaction(TransactionScope scope, IdempotencyKey key, Fingerprint fingerprint, String token,
				boolean provisional) {
			this.scope = scope;
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
				RecordStatements statements = records().statements(connection,
						this.scope.isNew() ? JdbcIdempotencyTransactions.this.longestWait : Duration.ZERO);
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
			if (this.scope.isNew()) {
				rollback();
			}
			else if (!this.scope.isEnded()) {
				this.scope.commit();
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
			return this.scope.isRollbackOnly();
		}

		@Override
		public void flushWork() {
			this.scope.changes().flush();
		}

		@Override
		public void commit(StoredResponse response, Duration retention) {
			try {
				flushWork();
				if (this.provisional) {
					complete(response, retention);
				}
				else {
					this.scope.transaction().add(this, JdbcIdempotencyTransactions.this.dataSource);
					this.scope.transaction().lastStatement(() -> {
						if (!this.undone) {
							complete(response, retention);
						}
					});
				}
			}
			catch (RuntimeException | Error ex) {
				rollback();
				throw ex;
			}
			this.scope.commit();
			if (this.scope.isNew() && !isConfirmed()) {
				throw new IdempotencyClaimLostException(this.key);
			}
		}

		@Override
		public boolean isConfirmed() {
			return this.provisional || (!this.undone && this.scope.end() == End.COMMITTED);
		}

		@Override
		public boolean isInDoubt() {
			return this.scope.isNew() && this.scope.isEnded() && this.scope.end() == End.UNKNOWN;
		}

		@Override
		public void rollback() {
			if (this.scope.isEnded()) {
				return;
			}
			if (this.provisional && !this.scope.hasSavepoint() && !this.scope.isRollbackOnly()) {
				leaveToTest();
			}
			else {
				this.scope.rollback();
			}
		}

		/**
		 * Without a savepoint, a rollback would mark the transaction of the test as
		 * rollback-only, so that it could not serve another request.
		 */
		private void leaveToTest() {
			try {
				boolean unused = joined((connection) -> records().release(connection, this.key, this.token));
				this.scope.commit();
			}
			catch (RuntimeException ex) {
				logger.debug("The key {} could not be released in the transaction of a test", this.key, ex);
			}
		}

		/**
		 * The record is older than the savepoint.
		 */
		@Override
		public Runnable savepoint() {
			return () -> {
			};
		}

		@Override
		public void undone() {
			this.undone = true;
		}

		private void complete(StoredResponse response, Duration retention) {
			if (!joined((connection) -> records().completeOwn(connection, this.key, this.fingerprint, this.token,
					response, retention))) {
				throw new IdempotencyClaimLostException(this.key);
			}
		}

	}

}
