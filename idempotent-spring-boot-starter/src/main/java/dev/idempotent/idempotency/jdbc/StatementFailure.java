package dev.idempotent.idempotency.jdbc;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Translates the failure of a statement on a table of records.
 */
final class StatementFailure {

	private StatementFailure() {
	}

	static IdempotencyStoreException of(String table, IdempotencyKey key, DataAccessException ex) {
		if (ex instanceof InvalidDataAccessResourceUsageException) {
			return new IdempotencyStoreException("The table " + table
					+ " is missing, has other columns than in the script schema-*.sql in "
					+ StatementFailure.class.getPackageName()
					+ ", or is not writable. Run the script for your database, or set idempotent.jdbc.initialize-schema=always",
					ex);
		}
		if (ex instanceof DataIntegrityViolationException) {
			return new IdempotencyStoreException("The table " + table + " rejected key " + key, ex);
		}
		return new IdempotencyStoreUnavailableException("The database failed to execute a statement for key " + key,
				ex);
	}

}
