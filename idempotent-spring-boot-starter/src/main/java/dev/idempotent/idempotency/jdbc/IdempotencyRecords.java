package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.jdbc.StatementFailures;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;

/**
 * The state machine of a key as rows of a table, on connections and in transactions of
 * others: nothing is committed or closed. Statements are counted in
 * {@code RecordStatementsContract}; failures are {@link DataAccessException}s, of which
 * only a {@link PessimisticLockingFailureException} speaks of another transaction.
 */
final class IdempotencyRecords {

	/**
	 * How often a key may change between two statements of one verb.
	 */
	private static final int ATTEMPTS = 20;

	private final String table;

	private volatile @Nullable RecordSql sql;

	/**
	 * Takes the name of a table, which may be in a schema. The database's dialect is
	 * found with the first connection.
	 */
	IdempotencyRecords(String table) {
		this.table = RecordDialect.requireTable(table);
	}

	/**
	 * Takes an absent key, or tells who has it.
	 * @param lockTimeout how long to wait for a transaction that has taken the key and
	 * not ended yet; {@code null} for as long as the connection waits for locks. H2
	 * always does the latter. The connection's own limit is as before afterwards
	 * @throws org.springframework.dao.CannotAcquireLockException if the time is over
	 */
	Claim claim(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			@Nullable Duration lockTimeout) {
		RecordSql sql = sql(connection);
		RecordStatements statements = new RecordStatements(connection, sql);
		for (int i = 0; i < ATTEMPTS; i++) {
			if (statements.insert(lockTimeout, key.digest(), token, fingerprint.version(), fingerprint.digest(), false,
					null, lease.toMillis())) {
				return new Claim.Acquired();
			}
			RecordRow row = statements.find(key);
			if (row == null) {
				continue;
			}
			if (!row.isExpired() && !row.isHeldBy(token)) {
				return row.answerTo(fingerprint);
			}
			if (row.isExpired()
					? statements.change(sql.takeOver(), lockTimeout, token, fingerprint.version(), fingerprint.digest(),
							false, null, lease.toMillis(), key.digest(), row.token())
					: statements.change(sql.renew(), lockTimeout, lease.toMillis(), key.digest(), token)) {
				return new Claim.Acquired();
			}
		}
		throw restless(key);
	}

	/**
	 * Keeps the response of a key that the token owns, or that is absent.
	 */
	boolean complete(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token,
			StoredResponse response, Duration retention) {
		RecordSql sql = sql(connection);
		RecordStatements statements = new RecordStatements(connection, sql);
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
				return row.token().equals(token);
			}
			if (statements.change(sql.takeOver(), null, token, fingerprint.version(), fingerprint.digest(), true, bytes,
					retention.toMillis(), key.digest(), row.token())) {
				return true;
			}
		}
		throw restless(key);
	}

	/**
	 * Keeps the response of a key whose record the same transaction has inserted.
	 * @return {@code false} if that record is no longer there
	 */
	boolean completeOwn(Connection connection, IdempotencyKey key, Fingerprint fingerprint, String token,
			StoredResponse response, Duration retention) {
		RecordSql sql = sql(connection);
		return new RecordStatements(connection, sql).change(sql.complete(), fingerprint.version(), fingerprint.digest(),
				response.bytes(), retention.toMillis(), key.digest(), token);
	}

	/**
	 * Frees a PENDING key.
	 */
	boolean release(Connection connection, IdempotencyKey key, String token) {
		RecordSql sql = sql(connection);
		RecordStatements statements = new RecordStatements(connection, sql);
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
		throw restless(key);
	}

	/**
	 * Lets the lease of a PENDING key start anew.
	 */
	boolean renew(Connection connection, IdempotencyKey key, String token, Duration lease) {
		RecordSql sql = sql(connection);
		RecordStatements statements = new RecordStatements(connection, sql);
		if (statements.change(sql.renew(), null, lease.toMillis(), key.digest(), token)) {
			return true;
		}
		// MySQL may count a row as unchanged whose new lease ends when the old one did.
		RecordRow row = statements.find(key);
		return row != null && !row.isExpired() && row.isHeldBy(token);
	}

	/**
	 * Lets the leases of PENDING keys start anew, in one batch.
	 * @return those of which the database says so
	 */
	Set<Renewal> renew(Connection connection, List<Renewal> held) {
		RecordSql sql = sql(connection);
		boolean[] changed = new RecordStatements(connection, sql).changeEach(sql.renew().plain(),
				held.stream()
					.map((one) -> new Object[] { one.lease().toMillis(), one.key().digest(), one.token() })
					.toList());
		return IntStream.range(0, changed.length)
			.filter((i) -> changed[i])
			.mapToObj(held::get)
			.collect(Collectors.toSet());
	}

	/**
	 * Looks a key up without waiting for anybody.
	 * @return what a claimant with another token would be told; {@code null} if it would
	 * get the key
	 */
	@Nullable Claim find(Connection connection, IdempotencyKey key, Fingerprint fingerprint) {
		RecordRow row = new RecordStatements(connection, sql(connection)).find(key);
		return (row != null && !row.isExpired()) ? row.answerTo(fingerprint) : null;
	}

	/**
	 * Tells whether a claim with a limit takes no more statements than one without.
	 */
	boolean limitsInOneStatement(Connection connection) {
		return sql(connection).insert().limited() != null;
	}

	private RecordSql sql(Connection connection) {
		RecordSql sql = this.sql;
		if (sql == null) {
			try {
				sql = RecordSql.of(RecordDialect.of(connection), this.table);
				this.sql = sql;
			}
			catch (SQLException ex) {
				throw StatementFailures.translate("", ex);
			}
		}
		return sql;
	}

	private static PessimisticLockingFailureException restless(IdempotencyKey key) {
		return new PessimisticLockingFailureException(
				"Key %s changed hands %d times while it was asked for".formatted(key, ATTEMPTS));
	}

}
