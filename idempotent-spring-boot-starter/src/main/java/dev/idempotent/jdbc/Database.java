package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * The supported databases and their SQL expressions for time. All times come from the
 * clock of the database and do not depend on the time zone of a session.
 */
public enum Database {

	/**
	 * PostgreSQL. Its {@code now()} is the start of the transaction, which may be long
	 * ago. Other programs can store a time that is infinite: such an age is not known,
	 * and such a time is far away.
	 */
	POSTGRESQL("clock_timestamp()", "statement_timestamp()", "clock_timestamp() + ? * interval '1 millisecond'",
			"case when isfinite(%s) then cast(extract(epoch from clock_timestamp() - %s) * 1000 as bigint) end",
			"case when isfinite(%s) then cast(extract(epoch from %s - clock_timestamp()) * 1000000 as bigint) "
					+ "when %s = 'infinity' then 9223372036854775807 when %s = '-infinity' then 0 end",
			"concat(cast(extract(epoch from pg_postmaster_start_time()) * 1000000 as bigint), ' ', "
					+ "pg_relation_filepath('%s'))"),

	/**
	 * MySQL and MariaDB. {@code utc_timestamp} is the start of the statement.
	 */
	MYSQL("utc_timestamp(6)", "utc_timestamp(6)", "timestampadd(microsecond, ? * 1000, utc_timestamp(6))",
			"timestampdiff(microsecond, %s, utc_timestamp(6)) div 1000",
			"timestampdiff(microsecond, utc_timestamp(6), %s)", "null"),

	/**
	 * H2. Its clock does not advance within a transaction.
	 */
	H2("current_timestamp(6)", "current_timestamp(6)", "dateadd(millisecond, ?, current_timestamp(6))",
			"datediff(millisecond, %s, current_timestamp(6))", "datediff(microsecond, current_timestamp(6), %s)",
			"null");

	private static final DateTimeFormatter LITERAL = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS")
		.withZone(ZoneOffset.UTC);

	private static final Pattern TABLE = Pattern.compile("([A-Za-z_]\\w*\\.)?[A-Za-z_]\\w*");

	private final String now;

	private final String nowForIndexes;

	private final String millisFromNow;

	private final String millisSince;

	private final String microsUntil;

	private final String epoch;

	Database(String now, String nowForIndexes, String millisFromNow, String millisSince, String microsUntil,
			String epoch) {
		this.now = now;
		this.nowForIndexes = nowForIndexes;
		this.millisFromNow = millisFromNow;
		this.millisSince = millisSince;
		this.microsUntil = microsUntil;
		this.epoch = epoch;
	}

	/**
	 * Detects the database of a connection.
	 * @param connection a connection
	 * @param stored what is stored there, as the subject of the message
	 * @param alternative what to do with another database, as the end of the message
	 * @return the database
	 * @throws InvalidDataAccessResourceUsageException if it is not supported
	 */
	public static Database of(Connection connection, String stored, String alternative) {
		try {
			Optional<Database> database = find(connection);
			if (database.isEmpty()) {
				throw new InvalidDataAccessResourceUsageException(
						stored + " cannot be kept in " + connection.getMetaData().getDatabaseProductName()
								+ ": use PostgreSQL, MySQL, MariaDB or H2, or " + alternative);
			}
			return database.get();
		}
		catch (SQLException ex) {
			throw Statements.translate("", ex);
		}
	}

	/**
	 * Finds the database of a connection.
	 * @param connection a connection
	 * @return the database, if it is one that is supported
	 * @throws SQLException if the connection has failed
	 */
	public static Optional<Database> find(Connection connection) throws SQLException {
		return switch (connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT)) {
			case "postgresql" -> Optional.of(POSTGRESQL);
			case "mysql", "mariadb" -> Optional.of(MYSQL);
			case "h2" -> Optional.of(H2);
			default -> Optional.empty();
		};
	}

	/**
	 * The script that creates the tables of a feature.
	 * @param database the name of a database, in lower case
	 * @param feature {@code idempotency}, {@code outbox} or {@code saga}
	 * @return its place on the class path
	 */
	public static String script(String database, String feature) {
		return "dev/idempotent/schema/" + database + "/" + feature + ".sql";
	}

	/**
	 * How to create the tables of a feature.
	 * @param database the name of a database, in lower case
	 * @param feature {@code idempotency}, {@code outbox} or {@code saga}
	 * @param prefix the prefix of the properties of the tables
	 * @return a sentence without a full stop
	 */
	public static String howToCreateTables(String database, String feature, String prefix) {
		return "Run the script " + script(database, feature) + " of the jar with the names of " + prefix + ".*, or set "
				+ prefix + ".initialize-schema=always";
	}

	/**
	 * Returns whether a text can be used as the name of a table, or as its prefix,
	 * without quotes.
	 * @param name letters, digits and underscores, after the name of a schema and a dot
	 * if need be
	 * @return {@code false} if it could contain other SQL
	 */
	public static boolean isTableName(String name) {
		return TABLE.matcher(name).matches();
	}

	/**
	 * The current time, evaluated for each row.
	 * @return an expression
	 */
	public String now() {
		return this.now;
	}

	/**
	 * The current time, evaluated once for a statement, so that it can be compared by an
	 * index.
	 * @return an expression
	 */
	public String nowForIndexes() {
		return this.nowForIndexes;
	}

	/**
	 * The current time plus a number of milliseconds.
	 * @return an expression whose only parameter is that number
	 */
	public String millisFromNow() {
		return this.millisFromNow;
	}

	/**
	 * A time that is never reached.
	 * @return an expression
	 */
	public String never() {
		return (this == MYSQL) ? "timestamp '9999-12-31 00:00:00'"
				: "timestamp with time zone '9999-12-31 00:00:00+00'";
	}

	/**
	 * A point in time.
	 * @param time a time of the years 1 to 9999, of which microseconds count
	 * @return an expression
	 */
	public String literal(Instant time) {
		String utc = LITERAL.format(time);
		return (this == MYSQL) ? "timestamp '" + utc + "'" : "timestamp with time zone '" + utc + "+00'";
	}

	/**
	 * The age of a time in milliseconds.
	 * @param column the column of the time
	 * @return an expression
	 */
	public String millisSince(String column) {
		// For each event: to format the text takes 50 µs if that is rarely done.
		return this.millisSince.replace("%s", column);
	}

	/**
	 * The microseconds until a time.
	 * @param column the column of the time
	 * @return an expression, not positive for a time that has passed
	 */
	public String microsUntil(String column) {
		return this.microsUntil.replace("%s", column);
	}

	/**
	 * Identifies the file of a table, from the start of its server to its end. What was
	 * committed there may only be lost when that ends, in a crash or by a failover to
	 * another server, or when the table is replaced: by the start of a copy, by one from
	 * a dump, or in another database of the same server.
	 * @param table the table
	 * @return an expression, {@code null} for a database that cannot tell
	 */
	public String epoch(String table) {
		return this.epoch.replace("%s", table);
	}

	/**
	 * Reads a point in time, which MySQL stores in UTC and without its zone.
	 * @param row a row
	 * @param column the column of the time, which is not null
	 * @return the point in time
	 * @throws SQLException if the driver fails
	 */
	public Instant instant(ResultSet row, String column) throws SQLException {
		return (this == MYSQL)
				? Objects.requireNonNull(row.getObject(column, LocalDateTime.class)).toInstant(ZoneOffset.UTC)
				: Objects.requireNonNull(row.getObject(column, OffsetDateTime.class)).toInstant();
	}

	/**
	 * Returns whether one statement can make several changes, and return what it has
	 * changed.
	 * @return {@code false} if that takes several statements in a transaction
	 */
	public boolean combinesChanges() {
		return this == POSTGRESQL;
	}

	/**
	 * Converts an id to a parameter.
	 * @param id an id
	 * @return its text for MySQL, which has no type for ids
	 */
	public Object parameter(UUID id) {
		return (this == MYSQL) ? id.toString() : id;
	}

}
