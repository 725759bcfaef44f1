package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

import dev.idempotent.jdbc.Database;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * How a database tells the time and writes ids.
 */
enum EventDialect {

	/**
	 * PostgreSQL.
	 */
	POSTGRESQL("cast(extract(epoch from clock_timestamp() - %s) * 1000 as bigint)"),

	/**
	 * MariaDB too.
	 */
	MYSQL("timestampdiff(microsecond, %s, utc_timestamp(6)) div 1000"),

	/**
	 * H2.
	 */
	H2("datediff(millisecond, %s, current_timestamp(6))");

	/**
	 * Begins a statement of PostgreSQL whose commit need not wait for the disk. What it
	 * takes back when the server crashes is delivered again, as after a crash of ours.
	 */
	static final String UNFLUSHED = "with unflushed as materialized "
			+ "(select set_config('synchronous_commit', 'off', true))";

	private final String ageMillis;

	EventDialect(String ageMillis) {
		this.ageMillis = ageMillis;
	}

	/**
	 * Finds the dialect of a database.
	 * @throws InvalidDataAccessResourceUsageException if there is none
	 */
	static EventDialect of(Connection connection) throws SQLException {
		Optional<Database> database = Database.of(connection);
		if (database.isEmpty()) {
			throw new InvalidDataAccessResourceUsageException(
					"An outbox cannot be kept in " + connection.getMetaData().getDatabaseProductName()
							+ ": use PostgreSQL, MySQL, MariaDB or H2, or set idempotent.outbox.enabled=false");
		}
		return valueOf(database.get().name());
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
	 * How many milliseconds ago the moment in a column was.
	 */
	String ageMillis(String column) {
		return this.ageMillis.formatted(column);
	}

	/**
	 * An id as a parameter.
	 */
	Object parameter(UUID id) {
		return (this == MYSQL) ? id.toString() : id;
	}

}
