package dev.idempotent.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
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
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.init.ScriptException;

/**
 * Creates missing tables from the script of a promise for the database.
 */
public final class TableScript extends DataSourceScriptDatabaseInitializer {

	private final DatabaseInitializationMode mode;

	private final String promise;

	private final UnaryOperator<String> names;

	private final Function<String, RuntimeException> unsupported;

	/**
	 * Creates an initializer.
	 * @param dataSource the database
	 * @param mode when to create the tables
	 * @param promise the name of the script
	 * @param names puts the configured names of the tables into a script
	 * @param unsupported creates the exception for a database without a script, from its
	 * product name
	 */
	public TableScript(DataSource dataSource, DatabaseInitializationMode mode, String promise,
			UnaryOperator<String> names, Function<String, RuntimeException> unsupported) {
		super(dataSource, settings(mode, promise));
		this.mode = mode;
		this.promise = promise;
		this.names = names;
		this.unsupported = unsupported;
	}

	/**
	 * Renames the tables of a script and their indexes. The name of an index is that of
	 * its table, {@code _due_at} or {@code _expires_at}, and any ending: other indexes
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

	private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode, String promise) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(mode);
		// A placeholder: the script depends on the database, which is not known yet.
		settings.setSchemaLocations(List.of("classpath:" + Database.script("h2", promise)));
		return settings;
	}

	@Override
	protected void runScripts(Scripts scripts) {
		String product = productName();
		DatabaseDriver driver = DatabaseDriver.fromProductName(product);
		String database = (driver == DatabaseDriver.MARIADB) ? DatabaseDriver.MYSQL.getId() : driver.getId();
		Resource script = new ClassPathResource(Database.script(database, this.promise));
		if (script.exists()) {
			try {
				super.runScripts(new Scripts(List.of(named(script))).encoding(StandardCharsets.UTF_8));
			}
			catch (ScriptException ex) {
				if (!(ex.getMostSpecificCause() instanceof SQLException failure) || isPassing(failure)) {
					throw ex;
				}
				throw new IdempotentConfigurationException(
						"The tables of the script %s could not be created: %s".formatted(script.getDescription(),
								failure.getMessage()),
						"Create the schema that the names of the tables or the connection state, allow its user to create "
								+ "tables, or create the tables yourself and set idempotent."
								+ (this.promise.equals("idempotency") ? "jdbc" : this.promise)
								+ ".initialize-schema=never.",
						ex);
			}
		}
		else if (this.mode == DatabaseInitializationMode.ALWAYS) {
			throw this.unsupported.apply(product);
		}
	}

	/**
	 * Whether the same script may succeed later: another instance created the tables at
	 * the same time, or the connection was lost.
	 */
	private static boolean isPassing(SQLException failure) {
		DataAccessException translated = Statements.translate("", failure);
		return translated instanceof DataIntegrityViolationException || Statements.isPassing(translated);
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
