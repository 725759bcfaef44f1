package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.RoutingDataSources;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * Keeps each key as a row of a table in the application's database: PostgreSQL, MySQL,
 * MariaDB or H2. Every verb commits by itself on a connection of its own and takes no
 * part in a transaction of its caller.
 */
public final class JdbcIdempotencyStore implements IdempotencyStore, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencyStore.class);

	private static final int ATTEMPTS = 5;

	/**
	 * How long a claim waits for a transaction that has taken its key in the same table,
	 * where that costs nothing (PostgreSQL); the other databases have a limit anyway.
	 */
	private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(1);

	private final NonTransactionalConnections connections;

	private final BatchedRenewals renewals;

	private final String table;

	private final IdempotencyRecords records;

	/**
	 * Creates a store on a table that one of the scripts beside this class has created.
	 * @param dataSource where the connections come from; its time-outs are how long a
	 * request waits for an unreachable database
	 * @param table the name of the table, in its schema if need be
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String table) {
		this(dataSource, table, null);
	}

	/**
	 * Creates a store that renews leases on a connection outside of the pool, which the
	 * work that is renewed may have emptied.
	 * @param dataSource where all other connections come from
	 * @param table the name of the table, in its schema if need be
	 * @param unpooled opens connections to the same database; {@code null} to renew
	 * through the pool
	 * @throws IdempotentConfigurationException if the data source routes to several
	 * databases
	 */
	public JdbcIdempotencyStore(DataSource dataSource, String table, @Nullable DataSource unpooled) {
		this.connections = new NonTransactionalConnections(new SecondConnections(oneDatabase(dataSource)));
		this.table = table;
		this.records = new IdempotencyRecords(table);
		this.renewals = new BatchedRenewals(this.connections, unpooled, this.records);
	}

	private static DataSource oneDatabase(DataSource dataSource) {
		String router = RoutingDataSources.find(dataSource);
		if (router != null) {
			throw new IdempotentConfigurationException("Idempotency keys are kept in a database, and the DataSource "
					+ router
					+ " routes to several databases: they would be renewed, looked up and deleted only in the default one.",
					RoutingDataSources.REMEDY + "; or keep the keys in Redis, under Guarantee.LEASE.", null);
		}
		return NonTransactionalConnections.withoutTransactions(dataSource);
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return run(key, (connection) -> {
			Duration limit = this.records.limitsInOneStatement(connection) ? LOCK_TIMEOUT : null;
			try {
				return this.records.claim(connection, key, fingerprint, token, lease, limit);
			}
			catch (CannotAcquireLockException ex) {
				return new Claim.Pending(Duration.ZERO);
			}
		});
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return run(key,
				(connection) -> this.records.complete(connection, key, fingerprint, token, response, retention));
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return run(key, (connection) -> this.records.release(connection, key, token));
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return run(key, (connection) -> this.records.renew(connection, key, token, lease));
	}

	@Override
	public Set<Renewal> renewAll(List<Renewal> held) {
		return this.renewals.renew(held);
	}

	@Override
	public void close() {
		this.renewals.close();
	}

	@Override
	public String describe() {
		return "Database";
	}

	@Override
	public boolean isDatabase() {
		return true;
	}

	/**
	 * Looks for the table. A database that does not answer is only warned of.
	 * @throws IdempotentConfigurationException if the database lacks it
	 */
	public void verify() {
		try {
			find(new IdempotencyKey("0".repeat(64)), Fingerprint.of(List.of()));
		}
		catch (IdempotencyStoreUnavailableException ex) {
			logger.warn("The database does not answer, so the table {} may or may not be there", this.table, ex);
		}
		catch (IdempotencyStoreException ex) {
			throw new IdempotentConfigurationException(
					"The database has no table " + this.table
							+ " for idempotency keys, or one that is not as this library creates it.",
					"Run the script schema-*.sql for your database (it is in the jar, in "
							+ getClass().getPackageName().replace('.', '/')
							+ "), or set idempotent.jdbc.initialize-schema=always.",
					ex);
		}
	}

	/**
	 * Looks a key up without waiting for anybody.
	 * @return what a claimant would be told, or {@code null} if it would get the key
	 */
	@Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
		return run(key, (connection) -> this.records.find(connection, key, fingerprint));
	}

	/**
	 * Looks a key up on a connection of the caller, without waiting for anybody.
	 * @return as {@link #find(IdempotencyKey, Fingerprint)}
	 */
	@Nullable Claim find(Connection connection, IdempotencyKey key, Fingerprint fingerprint) {
		try {
			return this.records.find(connection, key, fingerprint);
		}
		catch (DataAccessException ex) {
			throw failure(key, ex);
		}
	}

	String table() {
		return this.table;
	}

	/**
	 * The rows of this store, for use in transactions of others.
	 */
	IdempotencyRecords records() {
		return this.records;
	}

	/**
	 * What a failed statement means for a key.
	 */
	IdempotencyStoreException failure(IdempotencyKey key, DataAccessException ex) {
		if (ex instanceof InvalidDataAccessResourceUsageException) {
			return new IdempotencyStoreException("The table " + this.table + " is missing, is not as the script "
					+ "schema-*.sql beside " + getClass().getName() + " creates it, or may not be written. Run the one "
					+ "for your database, or set idempotent.jdbc.initialize-schema=always", ex);
		}
		if (ex instanceof DataIntegrityViolationException) {
			return new IdempotencyStoreException("The table " + this.table + " does not take key " + key, ex);
		}
		return new IdempotencyStoreUnavailableException("The database did not carry out a command on key " + key, ex);
	}

	private <T extends @Nullable Object> T run(IdempotencyKey key, Function<Connection, T> verb) {
		try {
			return runAgain(verb);
		}
		catch (DataAccessException ex) {
			throw failure(key, ex);
		}
	}

	/**
	 * Repeats what was rolled back: by a deadlock, or where the pool's connections are
	 * stricter than READ COMMITTED.
	 */
	private <T extends @Nullable Object> T runAgain(Function<Connection, T> verb) {
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				return this.connections.run(verb);
			}
			catch (CannotAcquireLockException ex) {
				throw ex;
			}
			catch (PessimisticLockingFailureException ex) {
				logger.debug("Asking the database again after attempt {} of {}", i, ATTEMPTS, ex);
			}
		}
		return this.connections.run(verb);
	}

}
