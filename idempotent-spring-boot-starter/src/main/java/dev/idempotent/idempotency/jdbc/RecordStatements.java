package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore.KeyCount;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.PostgresPlanCache;
import dev.idempotent.jdbc.Statements;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.PreparedStatementCallback;

/**
 * Executes statements on a connection of the caller, which is neither committed nor
 * closed.
 */
final class RecordStatements {

	private final Connection connection;

	private final RecordSql sql;

	private final DatabaseEpoch known;

	private @Nullable String epoch;

	RecordStatements(Connection connection, RecordSql sql, DatabaseEpoch known) {
		this.connection = connection;
		this.sql = sql;
		this.known = known;
	}

	RecordSql sql() {
		return this.sql;
	}

	/**
	 * The epoch of the database, as the last statement has returned it.
	 * @return {@code null} if none has
	 */
	@Nullable String epoch() {
		return this.epoch;
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
		if (lockTimeout == null || this.sql.database() == Database.H2) {
			return change(change.plain(), values);
		}
		String limited = change.limited();
		return (limited != null) ? changeLimited(limited, lockTimeout, values)
				: changeBetween(lockTimeout, change.plain(), values);
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
		Statements.updateEach(this.connection, this.sql.extend(),
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
			heard(row.epoch(), start);
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

	private boolean changeLimited(String sql, Duration lockTimeout, @Nullable Object... values) {
		@Nullable Object[] parameters = new Object[values.length + 1];
		parameters[0] = Long.toString(lockTimeout.toMillis());
		System.arraycopy(values, 0, parameters, 1, values.length);
		long start = System.nanoTime();
		return run(sql, (statement) -> {
			try (ResultSet rows = statement.executeQuery()) {
				boolean counted = rows.next();
				heard(counted ? rows.getString(3) : null, start);
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

	private void heard(@Nullable String told, long start) {
		this.epoch = told;
		if (told != null) {
			this.known.heard(told, start);
		}
	}

	/**
	 * The lock timeout of MySQL is a setting of the session, in whole seconds.
	 */
	private boolean changeBetween(Duration lockTimeout, String sql, @Nullable Object... values) {
		long seconds = Math.max(1, lockTimeout.plusMillis(999).toSeconds());
		run("set @idempotency_lock_wait = @@session.innodb_lock_wait_timeout, session innodb_lock_wait_timeout = "
				+ seconds, PreparedStatement::execute);
		try {
			return change(sql, values);
		}
		finally {
			run("set session innodb_lock_wait_timeout = @idempotency_lock_wait", PreparedStatement::execute);
		}
	}

	private <T extends @Nullable Object> T run(String sql, PreparedStatementCallback<T> step,
			@Nullable Object... values) {
		try (PreparedStatement statement = this.connection.prepareStatement(sql)) {
			if (!this.sql.isPlannedOnce(sql)) {
				PostgresPlanCache.bypass(statement);
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
