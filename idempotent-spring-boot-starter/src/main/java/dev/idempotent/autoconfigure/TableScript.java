package dev.idempotent.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

/**
 * Creates missing tables from the script {@code schema-<database>.sql} in the package of
 * the class that uses them.
 */
public final class TableScript extends DataSourceScriptDatabaseInitializer {

	private final DatabaseInitializationMode mode;

	private final Class<?> user;

	private final UnaryOperator<String> names;

	private final Function<String, RuntimeException> unsupported;

	/**
	 * Creates an initializer.
	 * @param dataSource the database
	 * @param mode when to create the tables
	 * @param user the class that uses the tables
	 * @param names puts the configured names of the tables into a script
	 * @param unsupported creates the exception for a database without a script, from its
	 * product name
	 */
	public TableScript(DataSource dataSource, DatabaseInitializationMode mode, Class<?> user,
			UnaryOperator<String> names, Function<String, RuntimeException> unsupported) {
		super(dataSource, settings(mode, user));
		this.mode = mode;
		this.user = user;
		this.names = names;
		this.unsupported = unsupported;
	}

	private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode, Class<?> user) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(mode);
		// A placeholder: the script depends on the database, which is not known yet.
		settings.setSchemaLocations(List.of("classpath:" + directory(user) + "schema-h2.sql"));
		return settings;
	}

	@Override
	protected void runScripts(Scripts scripts) {
		String product = productName();
		DatabaseDriver driver = DatabaseDriver.fromProductName(product);
		String database = (driver == DatabaseDriver.MARIADB) ? DatabaseDriver.MYSQL.getId() : driver.getId();
		Resource script = new ClassPathResource(directory(this.user) + "schema-" + database + ".sql");
		if (script.exists()) {
			super.runScripts(new Scripts(List.of(named(script))).encoding(StandardCharsets.UTF_8));
		}
		else if (this.mode == DatabaseInitializationMode.ALWAYS) {
			throw this.unsupported.apply(product);
		}
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

	private static String directory(Class<?> user) {
		return user.getPackageName().replace('.', '/') + "/";
	}

}
