package dev.idempotent.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * Creates missing tables from the script of a feature for the database.
 */
public final class TableScript extends DataSourceScriptDatabaseInitializer {

	/**
	 * More than the tables and indexes of a script, each of which can conflict.
	 */
	private static final int ATTEMPTS = 20;

	/**
	 * Of PostgreSQL, which checks whether a table exists before it locks its name:
	 * duplicate table, duplicate object; and of H2: table or index exists.
	 */
	private static final Set<String> EXISTS = Set.of("42P07", "42710", "42S01", "42S11");

	private final DatabaseInitializationMode mode;

	private final String feature;

	private final UnaryOperator<String> names;

	private final Function<String, RuntimeException> unsupported;

	/**
	 * Creates an initializer.
	 * @param dataSource the database
	 * @param mode when to create the tables
	 * @param feature {@code idempotency}, {@code outbox} or {@code saga}
	 * @param names puts the configured names of the tables into a script
	 * @param unsupported creates the exception for a database without a script, from its
	 * product name
	 */
	public TableScript(DataSource dataSource, DatabaseInitializationMode mode, String feature,
			UnaryOperator<String> names, Function<String, RuntimeException> unsupported) {
		super(dataSource, settings(mode, feature));
		this.mode = mode;
		this.feature = feature;
		this.names = names;
		this.unsupported = unsupported;
	}

	/**
	 * Renames the tables of a script and their indexes. The name of an index is the name
	 * of its table, {@code _due_at} or {@code _expires_at}, and any ending: other indexes
	 * are not renamed. An index is created in the schema of its table.
	 * @param script the script
	 * @param usual the beginning of the names in the script
	 * @param tables a pattern for the other part of the names of tables
	 * @param name the beginning of the new names, after the name of a schema and a dot if
	 * need be
	 * @return the script for tables with these names
	 */
	public static String rename(String script, String usual, String tables, String name) {
		String unqualified = name.substring(name.indexOf('.') + 1);
		return Pattern.compile("\\b" + usual + "((?:" + tables + ")(_(?:due|expires)_at\\w*)?)\\b")
			.matcher(script)
			.replaceAll((found) -> ((found.group(2) != null) ? unqualified : name) + found.group(1));
	}

	private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode, String feature) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(mode);
		// A placeholder: the script depends on the database, which is not known yet.
		settings.setSchemaLocations(List.of("classpath:" + Database.script("h2", feature)));
		return settings;
	}

	@Override
	protected void runScripts(Scripts scripts) {
		String product = productName();
		DatabaseDriver driver = DatabaseDriver.fromProductName(product);
		String database = (driver == DatabaseDriver.MARIADB) ? DatabaseDriver.MYSQL.getId() : driver.getId();
		Resource script = new ClassPathResource(Database.script(database, this.feature));
		if (script.exists()) {
			runRepeatedly(named(script), script.getDescription());
		}
		else if (this.mode == DatabaseInitializationMode.ALWAYS) {
			throw this.unsupported.apply(product);
		}
	}

	/**
	 * Runs a script until no other instance creates the same tables at the same time. A
	 * lock would need a session, which a connection pooler may not provide.
	 */
	private void runRepeatedly(Resource script, String description) {
		int attempts = 1;
		while (!run(script, description, attempts < ATTEMPTS)) {
			attempts++;
		}
	}

	/**
	 * Runs a script.
	 * @param repeatable whether it can be run again
	 * @return {@code false} if it has to be run again
	 */
	private boolean run(Resource script, String description, boolean repeatable) {
		try {
			super.runScripts(new Scripts(List.of(script)).encoding(StandardCharsets.UTF_8));
			return true;
		}
		catch (ScriptException ex) {
			if (!(ex.getMostSpecificCause() instanceof SQLException failure)) {
				throw ex;
			}
			boolean conflict = isConflict(failure);
			if (conflict && repeatable) {
				return false;
			}
			if (conflict || Statements.isTransient(Statements.translate("", failure))) {
				throw ex;
			}
			throw refusal(description, failure, ex);
		}
	}

	/**
	 * Whether another instance created the same tables or indexes at the same time: each
	 * of them exists when the failure is reported.
	 */
	private static boolean isConflict(SQLException failure) {
		DataAccessException translated = Statements.translate("", failure);
		return translated instanceof DataIntegrityViolationException
				|| translated instanceof PessimisticLockingFailureException
				|| EXISTS.contains(String.valueOf(failure.getSQLState()));
	}

	private IdempotentConfigurationException refusal(String script, SQLException failure, ScriptException cause) {
		return new IdempotentConfigurationException(
				"The tables of the script %s could not be created: %s".formatted(script, failure.getMessage()),
				"Create the schema that the names of the tables or the connection state, allow its user to create "
						+ "tables, or create the tables yourself and set idempotent."
						+ (this.feature.equals("idempotency") ? "jdbc" : this.feature) + ".initialize-schema=never.",
				cause);
	}

	private String productName() {
		try (Connection connection = getDataSource().getConnection()) {
			return connection.getMetaData().getDatabaseProductName();
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException("Tables could not be created", ex);
		}
	}

	private Resource named(Resource resource) {
		try {
			String script = this.names.apply(resource.getContentAsString(StandardCharsets.UTF_8));
			return new ByteArrayResource(script.getBytes(StandardCharsets.UTF_8), resource.getDescription());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
