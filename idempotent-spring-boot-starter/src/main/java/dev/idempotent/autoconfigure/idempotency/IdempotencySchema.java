package dev.idempotent.autoconfigure.idempotency;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.TableScript;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore;

/**
 * Creates the table for keys unless it is there.
 */
final class IdempotencySchema {

	private static final String TABLE = IdempotencyJdbcProperties.DEFAULT_TABLE;

	private IdempotencySchema() {
	}

	static TableScript of(DataSource dataSource, IdempotencyJdbcProperties properties) {
		return new TableScript(dataSource, properties.initializeSchema(), JdbcIdempotencyStore.class,
				(script) -> named(script, properties.table()),
				(product) -> new IdempotentConfigurationException("Idempotency keys cannot be kept in " + product + ".",
						"Use PostgreSQL, MySQL, MariaDB or H2, or leave idempotent.jdbc.initialize-schema out and keep "
								+ "them in Redis.",
						null));
	}

	/**
	 * A script for the table's own name. The index is in the same schema by itself.
	 */
	private static String named(String script, String table) {
		String index = table.substring(table.indexOf('.') + 1) + "_expires_at";
		return script.replace(TABLE + "_expires_at", index).replaceAll("\\b" + TABLE + "\\b", table);
	}

}
