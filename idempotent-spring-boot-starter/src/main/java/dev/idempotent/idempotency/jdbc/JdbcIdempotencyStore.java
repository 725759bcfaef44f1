package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Stores each key as a row of a table in the application's database: PostgreSQL, MySQL,
 * MariaDB or H2. Each method commits on a connection of its own and does not participate
 * in a transaction of its caller.
 */
public final class JdbcIdempotencyStore implements IdempotencyStore, AutoCloseable {

	/**
	 * How long an operator, and on PostgreSQL a claim, waits for another transaction that
	 * has claimed the key. The other databases have a lock timeout by default.
	 */
	private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(1);

	/**
	 * The length of the column in the scripts.
	 */
	private static final int TOKEN_LENGTH = 128;

	private static final String SCRIPT = Database.script("<database>", "idempotency");

	private static final IdempotencyKey ANY = new IdempotencyKey("0".repeat(64));

	private final OwnTransactions transactions;

	private final @Nullable KeptConnection unpooled;

	private final BatchedRenewals renewals;

	private final String table;

	private final IdempotencyRecords records;

	/**
	 * Creates a store on a table that a script in {@code dev/idempotent/schema} has
	 * created.
	 * @param transactions those on the data source, whose timeouts bound the wait for an
	 * unreachable database
	 * @param table the name of the table, after the name of a schema and a dot if need be
	 */
	public JdbcIdempotencyStore(OwnTransactions transactions, String table) {
		this(transactions, table, null);
	}

	/**
	 * Creates a store that renews leases, and records what must last beside the work, on
	 * a connection outside of the pool, because the work may have exhausted the pool.
	 * @param transactions those on the data source that provides all other connections
	 * @param table the name of the table, after the name of a schema and a dot if need be
	 * @param unpooled opens connections to the same database; {@code null} for the pool
	 * @throws IdempotentConfigurationException if the data source is a routing one
	 */
	public JdbcIdempotencyStore(OwnTransactions transactions, String table, @Nullable DataSource unpooled) {
		requireOneDatabase(transactions.dataSource());
		this.transactions = transactions;
		this.table = table;
		this.records = new IdempotencyRecords(table);
		this.unpooled = (unpooled != null) ? new KeptConnection(unpooled) : null;
		this.renewals = new BatchedRenewals(this.transactions, this.unpooled, this.records);
	}

	private static void requireOneDatabase(DataSource dataSource) {
		DatabaseRequirements.requireOneDatabase(dataSource, "Idempotency keys are stored in a database",
				"they would be renewed, looked up and deleted only in the default one",
				"; or keep the keys in Redis, under Guarantee.LEASE");
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return claimAs(key, fingerprint, token, lease, null);
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, RunDescription run) {
		return claimAs(key, fingerprint, token, lease, run);
	}

	private Claim claimAs(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			@Nullable RunDescription description) {
		return run(key, (connection) -> {
			Duration limit = this.records.limitsInOneStatement(connection) ? LOCK_TIMEOUT : null;
			try {
				return this.records.claimPending(connection, key, fingerprint, token, description, lease, limit);
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
	public @Nullable StoredKey find(IdempotencyKey key) {
		RecordRow row = run(key, (connection) -> this.records.find(connection, key));
		return (row != null) ? row.toStoredKey() : null;
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return run(key, (connection) -> this.records.forget(connection, key, token, LOCK_TIMEOUT));
	}

	@Override
	public PendingKeys findPending(int atMost) {
		return run(ANY, (connection) -> this.records.findPending(connection, atMost));
	}

	@Override
	public KeyCount count(int atMost) {
		return run(ANY, (connection) -> this.records.count(connection, atMost));
	}

	@Override
	public Set<Renewal> renewAll(List<Renewal> held) {
		return this.renewals.renew(held);
	}

	@Override
	public void close() {
		if (this.unpooled != null) {
			this.unpooled.close();
		}
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
	 * Checks that the table exists, that its rows can be changed, and that it can store
	 * each token: without tracing, tokens are short, so a request would be the first to
	 * fail. Logs a warning if the database does not answer.
	 * @throws IdempotentConfigurationException if the database lacks it, or the rights
	 */
	public void verify() {
		try {
			requireLongTokens(run(ANY, (connection) -> {
				DatabaseRequirements.requireUnlocked(connection, this.table);
				return this.records.tokenLength(connection);
			}));
			run(ANY, (connection) -> {
				DatabaseRequirements.requireRights(connection, this.table);
				return null;
			});
		}
		catch (IdempotencyStoreUnavailableException ex) {
			DatabaseRequirements.warnOfSilence("the table " + this.table, ex);
		}
		catch (IdempotencyStoreException ex) {
			throw new IdempotentConfigurationException(
					"A database of idempotency keys has no table " + this.table + ", or one with other columns.",
					Database.howToCreateTables("<database>", "idempotency", "idempotent.jdbc")
							+ ". An operation under Guarantee.TRANSACTION needs the table in the database of its "
							+ "transaction manager.",
					ex);
		}
	}

	/**
	 * Checks the length of the column for tokens.
	 * @param length its length in characters; 0 or less if it is unlimited or unknown
	 */
	private void requireLongTokens(int length) {
		if (length > 0 && length < TOKEN_LENGTH) {
			throw new IdempotentConfigurationException(
					"The column token of the table " + this.table + " is a varchar(" + length
							+ "), but the tokens of traced runs are longer.",
					"Change it to varchar(" + TOKEN_LENGTH + ") by alter table, as in the script " + SCRIPT
							+ ". Instances of an earlier version can use the changed table.");
		}
	}

	/**
	 * Completes a key as {@link #complete} does, and returns the outcome on record if it
	 * is another one. Needs no connection of the pool if there is another.
	 */
	Claim completeAtOnce(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		Function<Connection, Claim> work = (connection) -> {
			boolean own = this.records.limited(connection, LOCK_TIMEOUT,
					() -> this.records.complete(connection, key, fingerprint, token, response, retention));
			Claim onRecord = own ? new Claim.Acquired() : this.records.find(connection, key, fingerprint);
			return (onRecord != null) ? onRecord : new Claim.Pending(Duration.ZERO);
		};
		try {
			return (this.unpooled != null) ? this.unpooled.run(work)
					: OwnTransactions.repeat(() -> this.transactions.runInTransaction(work));
		}
		catch (CannotAcquireLockException ex) {
			return new Claim.Pending(Duration.ZERO);
		}
		catch (DataAccessException ex) {
			throw failure(key, ex);
		}
	}

	/**
	 * Looks a key up without waiting for locks.
	 * @return the result of a claim, or {@code null} if it would acquire the key
	 */
	@Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
		return run(key, (connection) -> this.records.find(connection, key, fingerprint));
	}

	/**
	 * Looks a key up on a connection of the caller, without waiting for locks.
	 * @return the result, as from {@link #find(IdempotencyKey, Fingerprint)}
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
	 * The records of this store, for use in transactions of the application.
	 */
	IdempotencyRecords records() {
		return this.records;
	}

	/**
	 * Translates the failure of a statement.
	 */
	IdempotencyStoreException failure(IdempotencyKey key, DataAccessException ex) {
		if (ex instanceof InvalidDataAccessResourceUsageException) {
			return new IdempotencyStoreException("The table " + this.table
					+ " is missing, has other columns than in the script " + SCRIPT
					+ ", or is not writable. Run the script for your database, or set idempotent.jdbc.initialize-schema=always",
					ex);
		}
		if (ex instanceof DataIntegrityViolationException) {
			return new IdempotencyStoreException("The table " + this.table + " rejected key " + key, ex);
		}
		return new IdempotencyStoreUnavailableException("The database failed to execute a statement for key " + key,
				ex);
	}

	private <T extends @Nullable Object> T run(IdempotencyKey key, Function<Connection, T> verb) {
		try {
			return OwnTransactions.repeat(() -> this.transactions.run(verb));
		}
		catch (DataAccessException ex) {
			throw failure(key, ex);
		}
	}

	/**
	 * Deletes expired keys from each database that is in use, from its first use until
	 * the sweepers are closed.
	 */
	public static final class Sweepers implements AutoCloseable {

		private static final Logger logger = LoggerFactory.getLogger(Sweepers.class);

		private final OwnTransactions transactions;

		private final String table;

		private final Duration interval;

		private final Map<DataSource, TableSweeper> sweepers = new ConcurrentHashMap<>();

		/**
		 * Creates the sweepers of all databases; none is swept yet.
		 * @param transactions used for each database
		 * @param table the name of the table in each database
		 * @param interval the pause between two sweeps of a database
		 */
		public Sweepers(OwnTransactions transactions, String table, Duration interval) {
			this.transactions = transactions;
			this.table = table;
			this.interval = interval;
		}

		/**
		 * Sweeps a database from now on.
		 * @param dataSource the database
		 */
		public void sweep(DataSource dataSource) {
			this.sweepers.computeIfAbsent(dataSource, (database) -> {
				TableSweeper sweeper = sweeper(this.transactions.on(database), this.table, this.interval);
				sweeper.start();
				return sweeper;
			});
		}

		@Override
		public void close() {
			this.sweepers.values().forEach(TableSweeper::close);
		}

		static TableSweeper sweeper(OwnTransactions transactions, String table, Duration interval) {
			IdempotencyRecords records = new IdempotencyRecords(table);
			return new TableSweeper("idempotency-sweeper", "Expired idempotency keys", interval,
					(limit) -> transactions.runInTransaction((connection) -> records.deleteExpired(connection, limit)),
					(swept) -> logger.debug("Deleted {} expired idempotency keys", swept));
		}

	}

}
