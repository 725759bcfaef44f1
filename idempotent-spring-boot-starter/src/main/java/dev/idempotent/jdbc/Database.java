package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Optional;

/**
 * The databases that this library has statements for, and how they tell the time. Their
 * own clock is the only one, and none of its values depends on the time zone of a
 * session.
 */
public enum Database {

	/**
	 * PostgreSQL. A transaction may be old, so {@code now()} would be in the past.
	 */
	POSTGRESQL("clock_timestamp()", "statement_timestamp()", "clock_timestamp() + ? * interval '1 millisecond'"),

	/**
	 * MySQL and MariaDB. {@code utc_timestamp} is that of the statement.
	 */
	MYSQL("utc_timestamp(6)", "utc_timestamp(6)", "timestampadd(microsecond, ? * 1000, utc_timestamp(6))"),

	/**
	 * H2. Its clock stands still within a transaction.
	 */
	H2("current_timestamp(6)", "current_timestamp(6)", "dateadd(millisecond, ?, current_timestamp(6))");

	private final String now;

	private final String nowForIndexes;

	private final String millisFromNow;

	Database(String now, String nowForIndexes, String millisFromNow) {
		this.now = now;
		this.nowForIndexes = nowForIndexes;
		this.millisFromNow = millisFromNow;
	}

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

	/**
	 * Now, once for each row.
	 * @return an expression
	 */
	public String now() {
		return this.now;
	}

	/**
	 * Now, once for a statement, so that an index helps.
	 * @return an expression
	 */
	public String nowForIndexes() {
		return this.nowForIndexes;
	}

	/**
	 * The moment that is as many milliseconds away as its one parameter says.
	 * @return an expression
	 */
	public String millisFromNow() {
		return this.millisFromNow;
	}

}
