package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore.KeyCount;
import dev.idempotent.idempotency.IdempotencyStore.PendingKeys;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.PreparedStatementCallback;

/**
 * The state machine of a key as rows of a table. Neither commits nor closes the
 * connections of its callers. Failures are {@link DataAccessException}s; a
 * {@link PessimisticLockingFailureException} is a conflict with another transaction.
 */
final class IdempotencyRecords {

	/**
	 * How often a key may change between two statements of one method.
	 */
	private static final int ATTEMPTS = 20;

	/**
	 * How long the epoch of the database is trusted: another database may have taken its
	 * place since. So long after a failover, this process may still replay what was lost
	 * in it.
	 */
	static final Duration TRUSTED = Duration.ofSeconds(5);

	private final String table;

	private volatile @Nullable RecordSql sql;

	private volatile @Nullable Epoch epoch;

	/**
	 * Creates the records of a table. The database is detected with the first connection.
	 * @param table the name of the table, after the name of a schema and a dot if need be
	 */
	IdempotencyRecords(String table) {
		this.table = RecordSql.requireTable(table);
	}

	/**
	 * Claims or completes an absent or expired key, or returns its state.
	 * @param response the response that completes the key, or {@code null} to claim it
	 * @param duration the retention of the response, or the lease
	 * @param lockTimeout how long to wait for another transaction that has claimed the
	 * key; {@code null} for the lock timeout of the connection, which is restored
	 * afterwards. H2 always uses the latter
	 * @throws org.springframework.dao.CannotAcquireLockException after that time
	 */
	Claim claim(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token,
			@Nullable StoredResponse response, Duration duration, @Nullable Duration lockTimeout) {
		return claim(statements(connection), key, fingerprint, token, response, duration, lockTimeout);
	}

	/**
	 * Claims or completes a key, as the method above, with statements of the caller,
	 * which return the epoch.
	 */
	Claim claim(RecordStatements statements, IdempotencyKey key, Fingerprint fingerprint, String token,
			@Nullable StoredResponse response, Duration duration, @Nullable Duration lockTimeout) {
		return claim(statements, key, fingerprint, token, response != null,
				(response != null) ? response.bytes() : null, duration, lockTimeout);
	}

	/**
	 * Claims an absent or expired key, or returns its state.
	 * @param run what runs under the key, which takes the place of a response until there
	 * is one; {@code null} if it is unknown
	 */
	Claim claimPending(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token,
			@Nullable RunDescription run, Duration lease, @Nullable Duration lockTimeout) {
		return claim(statements(connection), key, fingerprint, token, false, (run != null) ? run.toBytes() : null,
				lease, lockTimeout);
	}

	private static Claim claim(RecordStatements statements, IdempotencyKey key, Fingerprint fingerprint, String token,
			boolean completed, byte @Nullable [] bytes, Duration duration, @Nullable Duration lockTimeout) {
		RecordSql sql = statements.sql();
		for (int i = 0; i < ATTEMPTS; i++) {
			if (statements.insert(lockTimeout, key.digest(), token, fingerprint.version(), fingerprint.digest(),
					completed, bytes, duration.toMillis())) {
				return new Claim.Acquired();
			}
			RecordRow row = statements.find(key);
			if (row == null) {
				continue;
			}
			if (!row.isExpired() && !row.isHeldBy(token)) {
				return row.toClaim(fingerprint);
			}
			if (row.isExpired()
					? statements.change(sql.takeOver(), lockTimeout, token, fingerprint.version(), fingerprint.digest(),
							completed, bytes, duration.toMillis(), key.digest(), row.token())
					: statements.change(sql.renew(), lockTimeout, duration.toMillis(), key.digest(), token)) {
				return new Claim.Acquired();
			}
		}
		throw contended(key);
	}

	/**
	 * Stores the response of a key that the token owns, or that is absent or expired. One
	 * that the token has completed is kept for at least the retention from now on.
	 */
	boolean complete(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token,
			StoredResponse response, Duration retention) {
		RecordStatements statements = statements(connection);
		RecordSql sql = statements.sql();
		byte[] bytes = response.bytes();
		for (int i = 0; i < ATTEMPTS; i++) {
			if (statements.change(sql.complete(), fingerprint.version(), fingerprint.digest(), bytes,
					retention.toMillis(), key.digest(), token)
					|| statements.insert(null, key.digest(), token, fingerprint.version(), fingerprint.digest(), true,
							bytes, retention.toMillis())) {
				return true;
			}
			RecordRow row = statements.find(key);
			if (row == null || (!row.isExpired() && row.isHeldBy(token))) {
				continue;
			}
			if (!row.isExpired()) {
				boolean own = row.token().equals(token);
				if (own) {
					statements.change(sql.keep(), retention.toMillis(), key.digest(), token);
				}
				return own;
			}
			if (statements.change(sql.takeOver(), null, token, fingerprint.version(), fingerprint.digest(), true, bytes,
					retention.toMillis(), key.digest(), row.token())) {
				return true;
			}
		}
		throw contended(key);
	}

	/**
	 * Stores the response of a key whose record was inserted by the same transaction.
	 * @return {@code false} if that record no longer exists
	 */
	boolean completeOwn(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token,
			StoredResponse response, Duration retention) {
		return statements(connection).completeOwn(fingerprint.version(), fingerprint.digest(), response.bytes(),
				retention.toMillis(), key.digest(), token);
	}

	/**
	 * Releases a PENDING key.
	 */
	boolean release(Connection connection, IdempotencyKey key, String token) {
		RecordStatements statements = statements(connection);
		RecordSql sql = statements.sql();
		for (int i = 0; i < ATTEMPTS; i++) {
			if (statements.change(sql.release(), key.digest(), token)) {
				return true;
			}
			RecordRow row = statements.find(key);
			if (row == null || row.isExpired()) {
				return true;
			}
			if (!row.isHeldBy(token)) {
				return false;
			}
		}
		throw contended(key);
	}

	/**
	 * Restarts the lease of a PENDING key.
	 */
	boolean renew(Connection connection, IdempotencyKey key, String token, Duration lease) {
		RecordStatements statements = statements(connection);
		RecordSql sql = statements.sql();
		if (statements.change(sql.renew(), null, lease.toMillis(), key.digest(), token)) {
			return true;
		}
		// MySQL does not count a row whose new lease ends at the same time as the old
		// one.
		RecordRow row = statements.find(key);
		return row != null && !row.isExpired() && row.isHeldBy(token);
	}

	/**
	 * Restarts the leases of PENDING keys, without waiting for rows that another
	 * transaction has locked.
	 * @param held at least one key
	 * @return the renewals that are certain to have succeeded
	 */
	Set<Renewal> renew(Connection connection, List<Renewal> held) {
		RecordStatements statements = statements(connection);
		Map<String, String> tokens = statements.lock(held.stream().map((one) -> one.key().digest()).toList());
		Set<Renewal> renewed = held.stream()
			.filter((one) -> one.token().equals(tokens.get(one.key().digest())))
			.collect(Collectors.toSet());
		statements.extend(renewed);
		return renewed;
	}

	/**
	 * Looks a key up without waiting for locks.
	 * @return the result of a claim with another token; {@code null} if it would acquire
	 * the key
	 */
	@Nullable Claim find(Connection connection, IdempotencyKey key, Fingerprint fingerprint) {
		RecordRow row = find(connection, key);
		return (row != null) ? row.toClaim(fingerprint) : null;
	}

	/**
	 * Looks a key up without waiting for locks.
	 * @return its unexpired row, or {@code null}
	 */
	@Nullable RecordRow find(Connection connection, IdempotencyKey key) {
		RecordRow row = statements(connection).find(key);
		return (row != null && !row.isExpired()) ? row : null;
	}

	/**
	 * Reads how many characters the column of the token has, or 0 if they are not
	 * limited.
	 */
	int tokenLength(Connection connection) {
		return statements(connection).tokenLength();
	}

	/**
	 * Deletes a COMPLETED key that the token has completed.
	 */
	boolean forget(Connection connection, IdempotencyKey key, String token, Duration lockTimeout) {
		RecordStatements statements = statements(connection);
		for (int i = 0; i < ATTEMPTS; i++) {
			if (statements.change(statements.sql().forget(), lockTimeout, key.digest(), token)) {
				return true;
			}
			RecordRow row = statements.find(key);
			if (row == null || row.isExpired()) {
				return true;
			}
			if (!row.completed() || !row.token().equals(token)) {
				return false;
			}
		}
		throw contended(key);
	}

	/**
	 * Lists PENDING rows among the first to expire.
	 */
	PendingKeys findPending(Connection connection, int atMost) {
		RecordStatements statements = statements(connection);
		// First: of the rows that are read later, the last one remains as long or longer.
		Duration within = statements.lastRead(atMost);
		return new PendingKeys(statements.pending(atMost), within);
	}

	/**
	 * Counts unexpired rows, up to one more than the limit.
	 */
	KeyCount count(Connection connection, int atMost) {
		return statements(connection).count(atMost);
	}

	/**
	 * Deletes expired rows that no transaction has locked, one by one: with a list of
	 * keys, MySQL may read the whole table and wait for the locks of others.
	 * @return how many
	 */
	int deleteExpired(Connection connection, int atMost) {
		List<String> keys = Statements.query(connection,
				RecordSql.expired(this.table, sql(connection).database(), atMost), List.of(),
				(row, number) -> row.getString("key_digest"));
		Statements.changeEach(connection, "delete from " + this.table + " where key_digest = ?",
				keys.stream().map(List::of).toList());
		return keys.size();
	}

	/**
	 * Returns whether a claim with a lock timeout takes no more statements than one
	 * without.
	 */
	boolean limitsInOneStatement(Connection connection) {
		return sql(connection).insert().limited() != null;
	}

	/**
	 * Limits how long changes wait for locks on MySQL, which locks more than one row.
	 */
	<T> T limited(Connection connection, Duration lockTimeout, Supplier<T> changes) {
		return sql(connection).limited(connection, lockTimeout, changes);
	}

	/**
	 * Records the epoch that a statement has returned.
	 * @param start when the statement was sent: the server may have ended since
	 */
	void heard(String told, long start) {
		Epoch before = this.epoch;
		// Of two statements in a race, either may be recorded: each is true for its time.
		if (before == null || start - before.heard() > 0) {
			this.epoch = new Epoch(told, start);
		}
	}

	/**
	 * Returns whether this is the epoch of the database, as far as this process knows.
	 * @return {@code false} also if no statement has returned an epoch lately
	 */
	boolean isCurrent(String other) {
		Epoch last = this.epoch;
		return last != null && last.text().equals(other) && System.nanoTime() - last.heard() < TRUSTED.toNanos();
	}

	/**
	 * Creates the statements for one verb.
	 */
	RecordStatements statements(Connection connection) {
		return statements(connection, Duration.ZERO);
	}

	/**
	 * Creates the statements for one verb in a transaction that begins with it.
	 * @param longestWait how long PostgreSQL keeps it without hearing of it, and lets it
	 * wait for a lock
	 */
	RecordStatements statements(Connection connection, Duration longestWait) {
		return new RecordStatements(connection, sql(connection), longestWait);
	}

	private RecordSql sql(Connection connection) {
		RecordSql sql = this.sql;
		if (sql == null) {
			sql = RecordSql.of(RecordSql.databaseOf(connection), this.table);
			this.sql = sql;
		}
		return sql;
	}

	private static PessimisticLockingFailureException contended(IdempotencyKey key) {
		return new PessimisticLockingFailureException(
				"Key %s was claimed and released %d times during one call".formatted(key, ATTEMPTS));
	}

	/**
	 * The epoch that a statement has returned last, as {@link Database#epoch(String)}
	 * defines it.
	 */
	private record Epoch(String text, long heard) {
	}

	/**
	 * Executes statements on a connection of the caller, which is neither committed nor
	 * closed.
	 */
	final class RecordStatements {

		private final Connection connection;

		private final RecordSql sql;

		private final Duration longestWait;

		private @Nullable String told;

		private RecordStatements(Connection connection, RecordSql sql, Duration longestWait) {
			this.connection = connection;
			this.sql = sql;
			this.longestWait = longestWait;
		}

		RecordSql sql() {
			return this.sql;
		}

		/**
		 * The epoch of the database, as the last statement has returned it.
		 * @return {@code null} if none has
		 */
		@Nullable String epoch() {
			return this.told;
		}

		/**
		 * Inserts a row unless the key already has one.
		 */
		boolean insert(@Nullable Duration lockTimeout, @Nullable Object... values) {
			try {
				return change(this.sql.insert(), lockTimeout, values);
			}
			catch (DuplicateKeyException ex) {
				return false;
			}
		}

		/**
		 * Changes one row or none.
		 */
		boolean change(RecordSql.Change change, @Nullable Duration lockTimeout, @Nullable Object... values) {
			if (lockTimeout == null) {
				return change(change.plain(), values);
			}
			String limited = change.limited();
			return (limited != null) ? changeLimited(limited, lockTimeout, values)
					: this.sql.limited(this.connection, lockTimeout, () -> change(change.plain(), values));
		}

		/**
		 * Completes a row that the transaction has inserted.
		 */
		boolean completeOwn(@Nullable Object... values) {
			String sql = this.sql.completeOwn();
			return (sql != null) ? changeCounted(sql, values) : change(this.sql.complete(), values);
		}

		boolean change(String sql, @Nullable Object... values) {
			return run(sql, (statement) -> statement.executeUpdate() == 1, values);
		}

		/**
		 * Locks the unexpired PENDING rows of some keys, except for those that another
		 * transaction has locked.
		 * @return the tokens by the digests of the keys
		 */
		Map<String, String> lock(List<String> digests) {
			String sql = this.sql.lock().formatted(String.join(", ", Collections.nCopies(digests.size(), "?")));
			return run(sql, (statement) -> {
				Map<String, String> tokens = new HashMap<>();
				try (ResultSet rows = statement.executeQuery()) {
					while (rows.next()) {
						tokens.put(rows.getString("key_digest"), rows.getString("token"));
					}
				}
				return tokens;
			}, digests.toArray());
		}

		/**
		 * Restarts the leases of locked rows. Does not depend on update counts, which a
		 * driver may not report for a batch.
		 */
		void extend(Collection<Renewal> locked) {
			int unused = Statements.updateEach(this.connection, this.sql.extend(),
					locked.stream().map((one) -> List.<Object>of(one.lease().toMillis(), one.key().digest())).toList());
		}

		@Nullable RecordRow find(IdempotencyKey key) {
			long start = System.nanoTime();
			RecordRow row = run(this.sql.find(), (statement) -> {
				try (ResultSet rows = statement.executeQuery()) {
					return rows.next() ? RecordRow.of(rows) : null;
				}
			}, key.digest());
			if (row != null) {
				told(row.epoch(), start);
			}
			return row;
		}

		/**
		 * Reads how many characters the column of the token has.
		 * @return 0 if they are not limited
		 */
		int tokenLength() {
			return run(this.sql.find(), (statement) -> {
				try (ResultSet none = statement.executeQuery()) {
					return none.getMetaData().getPrecision(none.findColumn("token"));
				}
			}, "");
		}

		KeyCount count(int atMost) {
			return run(this.sql.count(), (statement) -> {
				long pending = 0;
				long completed = 0;
				try (ResultSet groups = statement.executeQuery()) {
					while (groups.next()) {
						if (groups.getBoolean(1)) {
							completed = groups.getLong(2);
						}
						else {
							pending = groups.getLong(2);
						}
					}
				}
				return new KeyCount(pending, completed, pending + completed <= atMost);
			}, atMost + 1);
		}

		Map<IdempotencyKey, StoredKey> pending(int atMost) {
			return run(this.sql.pending(), (statement) -> {
				Map<IdempotencyKey, StoredKey> keys = new LinkedHashMap<>();
				try (ResultSet rows = statement.executeQuery()) {
					while (rows.next()) {
						byte[] description = rows.getBytes(3);
						keys.put(new IdempotencyKey(rows.getString(1)),
								StoredKey.pending(rows.getString(2), remaining(rows.getLong(4)),
										(description != null) ? RunDescription.parse(description) : null));
					}
				}
				return keys;
			}, atMost);
		}

		/**
		 * Reads how long the last of the first rows to expire remains.
		 * @return {@code null} if there are fewer rows
		 */
		@Nullable Duration lastRead(int atMost) {
			return run(this.sql.lastRead(), (statement) -> {
				try (ResultSet row = statement.executeQuery()) {
					return row.next() ? remaining(row.getLong(1)) : null;
				}
			}, atMost - 1);
		}

		private static Duration remaining(long micros) {
			return Duration.of(Math.max(0, micros), ChronoUnit.MICROS);
		}

		private boolean changeLimited(String sql, Duration lockTimeout, @Nullable Object... values) {
			@Nullable Object[] parameters = new Object[values.length + 2];
			parameters[0] = Statements.limit(this.longestWait);
			parameters[1] = Statements.limit(lockTimeout);
			System.arraycopy(values, 0, parameters, 2, values.length);
			long start = System.nanoTime();
			return run(sql, (statement) -> {
				try (ResultSet rows = statement.executeQuery()) {
					boolean counted = rows.next();
					told(counted ? rows.getString(3) : null, start);
					return counted && rows.getInt(1) == 1;
				}
			}, parameters);
		}

		private boolean changeCounted(String sql, @Nullable Object... values) {
			return run(sql, (statement) -> {
				try (ResultSet rows = statement.executeQuery()) {
					return rows.next() && rows.getInt(1) == 1;
				}
			}, values);
		}

		private void told(@Nullable String epoch, long start) {
			this.told = epoch;
			if (epoch != null) {
				heard(epoch, start);
			}
		}

		private <T extends @Nullable Object> T run(String sql, PreparedStatementCallback<T> step,
				@Nullable Object... values) {
			try (PreparedStatement statement = this.connection.prepareStatement(sql)) {
				if (!this.sql.isPlannedOnce(sql)) {
					Statements.replan(statement);
				}
				for (int i = 0; i < values.length; i++) {
					set(statement, i + 1, values[i]);
				}
				return step.doInPreparedStatement(statement);
			}
			catch (SQLException ex) {
				throw Statements.translate(sql, ex);
			}
		}

		private static void set(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
			if (value == null) {
				statement.setNull(index, Types.VARBINARY);
			}
			else if (value instanceof byte[] bytes) {
				statement.setBytes(index, bytes);
			}
			else {
				statement.setObject(index, value);
			}
		}

	}

}
