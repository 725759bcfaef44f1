package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.regex.Pattern;

import dev.idempotent.jdbc.Database;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * How a database tells the time and inserts a row that may be there. Its own clock is the
 * only one, and none of its values depends on the time zone of a session.
 */
enum RecordDialect {

	/**
	 * PostgreSQL.
	 */
	POSTGRESQL("cast(extract(epoch from expires_at - clock_timestamp()) * 1000000 as bigint)"),

	/**
	 * MariaDB too.
	 */
	MYSQL("timestampdiff(microsecond, utc_timestamp(6), expires_at)"),

	/**
	 * H2.
	 */
	H2("datediff(microsecond, current_timestamp(6), expires_at)");

	private static final Pattern TABLE = Pattern.compile("([A-Za-z_]\\w*\\.)?[A-Za-z_]\\w*");

	private final String remainingMicros;

	RecordDialect(String remainingMicros) {
		this.remainingMicros = remainingMicros;
	}

	/**
	 * Finds the dialect of a database.
	 * @throws InvalidDataAccessResourceUsageException if there is none
	 */
	static RecordDialect of(Connection connection) throws SQLException {
		Optional<Database> database = Database.of(connection);
		if (database.isEmpty()) {
			throw new InvalidDataAccessResourceUsageException(
					"Idempotency keys cannot be kept in " + connection.getMetaData().getDatabaseProductName()
							+ ": use PostgreSQL, MySQL, MariaDB or H2, or keep them in Redis (idempotent.store=redis)");
		}
		return valueOf(database.get().name());
	}

	/**
	 * Refuses what could be more than the name of a table.
	 */
	static String requireTable(String name) {
		if (!TABLE.matcher(name).matches()) {
			throw new IllegalArgumentException("'%s' is no name of a table".formatted(name));
		}
		return name;
	}

	/**
	 * Now, once for each row.
	 */
	String now() {
		return Database.valueOf(name()).now();
	}

	/**
	 * Now, once for a statement, so that an index helps.
	 */
	String nowForIndexes() {
		return Database.valueOf(name()).nowForIndexes();
	}

	/**
	 * The moment that is as many milliseconds away as its one parameter says.
	 */
	String millisFromNow() {
		return Database.valueOf(name()).millisFromNow();
	}

	/**
	 * How long until a row's time ends; not positive when it has ended.
	 */
	String remainingMicros() {
		return this.remainingMicros;
	}

}
