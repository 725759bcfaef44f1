package dev.idempotent.idempotency.jdbc;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStoreException;

/**
 * Mistakes in the table of the records that stop the application at startup.
 */
final class TableMistakes {

	/**
	 * The length of the column in the scripts.
	 */
	private static final int TOKEN_LENGTH = 128;

	private TableMistakes() {
	}

	static IdempotentConfigurationException missing(String table, IdempotencyStoreException cause) {
		return new IdempotentConfigurationException(
				"The database has no table " + table + " for idempotency keys, or one with other columns.",
				"Run the script schema-*.sql for your database (it is in the jar, in "
						+ TableMistakes.class.getPackageName().replace('.', '/')
						+ "), or set idempotent.jdbc.initialize-schema=always.",
				cause);
	}

	/**
	 * Checks the length of the column for tokens.
	 * @param length its length in characters; 0 or less if it is unlimited or unknown
	 * @throws IdempotentConfigurationException if it is too short
	 */
	static void requireLongTokens(String table, int length) {
		if (length > 0 && length < TOKEN_LENGTH) {
			throw new IdempotentConfigurationException(
					"The column token of the table " + table + " is a varchar(" + length
							+ "), but the tokens of traced runs are longer.",
					"Change it to varchar(" + TOKEN_LENGTH + ") by alter table, as in the script schema-*.sql for your "
							+ "database. Instances of an earlier version can use the changed table.",
					null);
		}
	}

}
