package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;

/**
 * The databases that this library has statements for.
 */
public enum Database {

	/**
	 * PostgreSQL.
	 */
	POSTGRESQL,

	/**
	 * MySQL and MariaDB.
	 */
	MYSQL,

	/**
	 * H2.
	 */
	H2;

	/**
	 * Finds out which database it is.
	 * @param connection a connection to it
	 * @return empty if it is another one
	 * @throws SQLException if it does not tell
	 */
	public static Optional<Database> of(Connection connection) throws SQLException {
		return switch (connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT)) {
			case "postgresql" -> Optional.of(POSTGRESQL);
			case "mysql", "mariadb" -> Optional.of(MYSQL);
			case "h2" -> Optional.of(H2);
			default -> Optional.empty();
		};
	}

}
