package dev.idempotent.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

/**
 * Creates the table for keys unless it is there.
 */
final class IdempotencySchema extends DataSourceScriptDatabaseInitializer {

	private final IdempotencyJdbcProperties properties;

	IdempotencySchema(DataSource dataSource, IdempotencyJdbcProperties properties) {
		super(dataSource, settings(properties.initializeSchema()));
		this.properties = properties;
	}

	private static DatabaseInitializationSettings settings(DatabaseInitializationMode mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(mode);
		// Which script it is shows only when the database is asked.
		settings.setSchemaLocations(List.of("classpath:" + directory() + "schema-h2.sql"));
		return settings;
	}

	@Override
	protected void runScripts(Scripts scripts) {
		String product = productName();
		DatabaseDriver driver = DatabaseDriver.fromProductName(product);
		String database = (driver == DatabaseDriver.MARIADB) ? DatabaseDriver.MYSQL.getId() : driver.getId();
		Resource script = new ClassPathResource(directory() + "schema-" + database + ".sql");
		if (script.exists()) {
			super.runScripts(new Scripts(List.of(named(script))).encoding(StandardCharsets.UTF_8));
		}
		else if (this.properties.initializeSchema() == DatabaseInitializationMode.ALWAYS) {
			throw new IdempotencyConfigurationException("Idempotency keys cannot be kept in " + product + ".",
					"Use PostgreSQL, MySQL, MariaDB or H2, or leave idempotent.jdbc.initialize-schema out and keep them "
							+ "in Redis.",
					null);
		}
	}

	private String productName() {
		try (Connection connection = getDataSource().getConnection()) {
			return connection.getMetaData().getDatabaseProductName();
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException("The table for idempotency keys could not be created", ex);
		}
	}

	/**
	 * A script for the table's own name. The index is in the same schema by itself.
	 */
	private Resource named(Resource resource) {
		String table = this.properties.table();
		String index = table.substring(table.indexOf('.') + 1) + "_expires_at";
		try {
			String script = resource.getContentAsString(StandardCharsets.UTF_8)
				.replace(IdempotencyJdbcProperties.DEFAULT_TABLE + "_expires_at", index)
				.replaceAll("\\b" + IdempotencyJdbcProperties.DEFAULT_TABLE + "\\b", table);
			return new ByteArrayResource(script.getBytes(StandardCharsets.UTF_8), resource.getDescription());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String directory() {
		return JdbcIdempotencyStore.class.getPackageName().replace('.', '/') + "/";
	}

}
