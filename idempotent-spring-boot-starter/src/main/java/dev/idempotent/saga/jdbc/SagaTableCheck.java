package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Checks that the tables have the columns of the scripts.
 */
final class SagaTableCheck {

	private static final List<String> INSTANCE = List.of("id", "name", "status", "halted_in", "epoch", "steps", "owner",
			"due_at", "deadline", "attempts", "unfit", "fingerprint_version", "fingerprint_digest", "arguments",
			"result", "reason", "halt_reason", "created_at");

	private static final List<String> STEP = List.of("saga_id", "name", "seq", "kind", "state", "result", "reason",
			"note", "begun_at", "compensating_at", "ended_at");

	private final SagaDatabase database;

	private final SagaTables tables;

	SagaTableCheck(SagaDatabase database, SagaTables tables) {
		this.database = database;
		this.tables = tables;
	}

	void verify() {
		verify(this.tables.instance(), INSTANCE);
		verify(this.tables.step(), STEP);
	}

	private void verify(String table, List<String> columns) {
		Database kind = this.database.kind();
		try {
			Set<String> missing = new LinkedHashSet<>(columns);
			missing.removeAll(this.database.runStatement((connection, unused) -> columns(connection, table)));
			if (!missing.isEmpty()) {
				throw new IdempotentConfigurationException(
						"The table " + table + " of sagas lacks the columns " + String.join(", ", missing) + ".",
						howToCreateTables(kind), null);
			}
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new IdempotentConfigurationException(
					"The database lacks the table " + table + " of sagas, or it is not readable.",
					howToCreateTables(kind), ex);
		}
	}

	private static Set<String> columns(Connection connection, String table) {
		String sql = "select * from " + table + " where 1 = 0";
		try (PreparedStatement statement = connection.prepareStatement(sql);
				ResultSet rows = statement.executeQuery()) {
			ResultSetMetaData metadata = rows.getMetaData();
			Set<String> columns = new LinkedHashSet<>();
			for (int i = 1; i <= metadata.getColumnCount(); i++) {
				columns.add(metadata.getColumnName(i).toLowerCase(Locale.ROOT));
			}
			return columns;
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	private static String howToCreateTables(Database kind) {
		return "Run the script schema-" + kind.name().toLowerCase(Locale.ROOT) + ".sql (it is in the jar, in "
				+ SagaTableCheck.class.getPackageName().replace('.', '/')
				+ "), or set idempotent.saga.initialize-schema=always.";
	}

}
