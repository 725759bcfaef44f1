package dev.idempotent.autoconfigure.idempotency;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore;

/**
 * Creates the script that creates the table for keys.
 */
final class IdempotencySchema {

	private static final String TABLE = IdempotencyJdbcProperties.DEFAULT_TABLE;

	private IdempotencySchema() {
	}

	static TableScript of(DataSource dataSource, IdempotencyJdbcProperties properties) {
		return new TableScript(dataSource, properties.initializeSchema(), "idempotency",
				(script) -> named(script, properties.table()),
				(product) -> new IdempotentConfigurationException(
						"Idempotency keys cannot be stored in " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or omit idempotent.jdbc.initialize-schema and store "
								+ "them in Redis.",
						null));
	}

	/**
	 * Puts the name of the table into a script. The index is created in the schema of its
	 * table.
	 */
	private static String named(String script, String table) {
		String index = table.substring(table.indexOf('.') + 1) + "_expires_at";
		return script.replace(TABLE + "_expires_at", index).replaceAll("\\b" + TABLE + "\\b", table);
	}

}
