package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyTransactions.Transaction;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.TransactionInspector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction of the application's transaction manager that contains the record of a
 * key. The record is completed by its last statement: a database may roll back the victim
 * of a deadlock while the work continues unaware; a record that is completed earlier
 * would not prove that the statements after it were committed. Directly before the
 * commit, it looks once more: PostgreSQL rolls back what a later synchronization has made
 * fail, and its driver reports a commit.
 */
final class JdbcIdempotencyTransaction implements Transaction, TransactionSynchronization {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencyTransaction.class);

	private final PlatformTransactionManager manager;

	private final TransactionStatus status;

	private final DataSource dataSource;

	private final IdempotencyRecords records;

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

	private boolean confirmed;

	JdbcIdempotencyTransaction(PlatformTransactionManager manager, TransactionStatus status, DataSource dataSource,
			IdempotencyRecords records, IdempotencyKey key, Fingerprint fingerprint, String token,
			boolean provisional) {
		this.manager = manager;
		this.status = status;
		this.dataSource = dataSource;
		this.records = records;
		this.key = key;
		this.fingerprint = fingerprint;
		this.token = token;
		this.provisional = provisional;
	}

	/**
	 * Claims the key on the connection of the transaction.
	 */
	Claim claim(Duration lease, Duration lockTimeout) {
		return run((connection) -> {
			RecordStatements statements = this.records.statements(connection);
			Claim claim = this.records.claim(statements, this.key, this.fingerprint, this.token, null, lease,
					lockTimeout);
			this.epoch = statements.epoch();
			return claim;
		});
	}

	/**
	 * Ends with a claim that was not acquired. A transaction of the caller continues.
	 */
	JdbcIdempotencyTransaction endWith(Claim claim) {
		this.outcome = claim;
		if (this.status.isNewTransaction()) {
			rollback();
		}
		else if (!this.status.isCompleted()) {
			this.manager.commit(this.status);
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
	public void commit(StoredResponse response, Duration retention) {
		boolean prepared = false;
		try {
			this.status.flush();
			if (this.provisional) {
				complete(response, retention);
			}
			else {
				completeLast(() -> complete(response, retention));
			}
			prepared = true;
		}
		finally {
			if (!prepared) {
				rollback();
			}
		}
		this.manager.commit(this.status);
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
				this.manager.rollback(this.status);
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
		boolean unused = run((connection) -> this.records.release(connection, this.key, this.token));
		this.manager.commit(this.status);
	}

	/**
	 * Completes the record before the transaction of this thread commits, or immediately
	 * if synchronization is not active.
	 */
	private void completeLast(Runnable step) {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			this.completion = step;
			TransactionSynchronizationManager.registerSynchronization(this);
		}
		else {
			step.run();
			look();
		}
	}

	@Override
	public void savepoint(Object savepoint) {
		this.savepoints.add(savepoint);
	}

	/**
	 * Takes note if the transaction was rolled back to a savepoint that is older than the
	 * record.
	 */
	@Override
	public void savepointRollback(Object savepoint) {
		this.undone |= this.savepoints.stream().noneMatch((younger) -> younger == savepoint);
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		if (!this.undone) {
			this.completion.run();
			// Behind those that the others have registered until now.
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCompletion() {
					look();
				}

			});
		}
	}

	private void look() {
		this.confirmed = run(this::canCommit);
	}

	private boolean canCommit(Connection connection) {
		return this.records.statements(connection).sql().database() != Database.POSTGRESQL
				|| PostgresTransactions.canCommit(connection);
	}

	private void complete(StoredResponse response, Duration retention) {
		if (!run((connection) -> this.records.completeOwn(connection, this.key, this.fingerprint, this.token, response,
				retention))) {
			throw new IdempotencyClaimLostException(this.key);
		}
	}

	/**
	 * On another connection, the record would not commit with the work.
	 */
	private <T extends @Nullable Object> T run(Function<Connection, T> verb) {
		if (!TransactionInspector.isBound(this.dataSource)) {
			throw JdbcIdempotencyTransactions.unbound(this.manager);
		}
		return TransactionInspector.join(this.dataSource, verb);
	}

}
