package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * What all features of the library require of the application's database, checked at the
 * start.
 */
public final class DatabaseRequirements {

	private static final Logger logger = LoggerFactory.getLogger(DatabaseRequirements.class);

	private DatabaseRequirements() {
	}

	/**
	 * Rejects a data source that routes to several databases, such as one for each
	 * tenant: the threads of this library would only reach the default one.
	 * @param dataSource a data source
	 * @param stored what is stored where: a clause
	 * @param consequence what would happen with several databases: a clause
	 * @param alternative the end of the sentence that says what to do
	 * @throws IdempotentConfigurationException if it does
	 */
	public static void requireOneDatabase(DataSource dataSource, String stored, String consequence,
			String alternative) {
		String router = findRouter(dataSource);
		if (router != null) {
			throw new IdempotentConfigurationException(
					stored + ", and the DataSource " + router + " routes to several databases: " + consequence + ".",
					"Run one application for each database, or mark the DataSource of one database as @Primary. If it "
							+ "only separates readers from writers, use Spring's LazyConnectionDataSourceProxy with a "
							+ "read-only DataSource instead" + alternative + ".");
		}
	}

	/**
	 * Finds a data source that routes to several databases, behind any delegates.
	 * @param dataSource a data source
	 * @return the name of the router's class, or {@code null} if there is none
	 */
	public static @Nullable String findRouter(DataSource dataSource) {
		if (dataSource instanceof AbstractRoutingDataSource) {
			return dataSource.getClass().getName();
		}
		if (dataSource instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
			return findRouter(delegating.getTargetDataSource());
		}
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class)
					? dataSource.unwrap(AbstractRoutingDataSource.class).getClass().getName() : null;
		}
		catch (SQLException | RuntimeException ex) {
			return null;
		}
	}

	/**
	 * Fails rather than wait while another transaction keeps a table from being read, as
	 * {@code vacuum full} does; on PostgreSQL only. What follows in the same transaction
	 * does not wait either.
	 * @param connection is neither committed nor closed
	 * @param table the table
	 * @throws CannotAcquireLockException if the table is not readable within 5 seconds
	 */
	public static void requireUnlocked(Connection connection, String table) {
		if (Database.of(connection, table, "") == Database.POSTGRESQL) {
			try {
				Statements.execute(connection,
						"select set_config('lock_timeout', '5s', true); select 1 from " + table + " where false");
			}
			catch (CannotAcquireLockException ex) {
				throw new CannotAcquireLockException("Another transaction has locked the table " + table
						+ " for more than 5 seconds: pg_locks has its process; end it, or wait");
			}
		}
	}

	/**
	 * Finds the columns that a table lacks.
	 * @param connection is neither committed nor closed
	 * @param table the table
	 * @param columns the columns that it must have, separated by commas
	 * @return the columns that it lacks
	 * @throws org.springframework.dao.InvalidDataAccessResourceUsageException if there is
	 * no such table, or it is not readable
	 * @throws CannotAcquireLockException if it is locked, as for {@link #requireUnlocked}
	 */
	public static Set<String> missingColumns(Connection connection, String table, String columns) {
		requireUnlocked(connection, table);
		String sql = "select * from " + table + " where 1 = 0";
		Set<String> missing = new LinkedHashSet<>(List.of(columns.split(", ")));
		try (PreparedStatement statement = connection.prepareStatement(sql);
				ResultSet none = statement.executeQuery()) {
			for (int i = 1; i <= none.getMetaData().getColumnCount(); i++) {
				missing.remove(none.getMetaData().getColumnName(i).toLowerCase(Locale.ROOT));
			}
			return missing;
		}
		catch (SQLException ex) {
			throw Statements.translate(sql, ex);
		}
	}

	/**
	 * Requires the rights to change the rows of a table, without which work would run and
	 * be rolled back each time. Asks without locks, so that a start does not wait for
	 * others; checked on PostgreSQL only.
	 * @param connection is neither committed nor closed
	 * @param table the table, which exists
	 * @throws IdempotentConfigurationException if the user of the connection lacks one
	 */
	public static void requireRights(Connection connection, String table) {
		if (Database.of(connection, table, "") == Database.POSTGRESQL) {
			List<String> missing = Statements.query(connection,
					"select privilege from unnest(array['insert', 'update', 'delete']) privilege "
							+ "where not case privilege when 'delete' then has_table_privilege(?, privilege) "
							+ "else has_any_column_privilege(?, privilege) end",
					List.of(table, table), (row, number) -> row.getString(1));
			if (!missing.isEmpty()) {
				throw new IdempotentConfigurationException("The user of the database may not "
						+ String.join(" or ", missing) + " rows of the table " + table + ".",
						"Grant select, insert, update and delete on it.");
			}
		}
	}

	/**
	 * Warns that something was not checked because the database does not answer or is
	 * read-only.
	 * @param unchecked what was not checked
	 * @param failure the failure
	 */
	public static void warnOfSilence(String unchecked, Exception failure) {
		logger.warn("The database does not answer or is read-only, so {} could not be checked: {}", unchecked,
				OutageLog.reason(failure));
		logger.debug("The stack trace of the failure above", failure);
	}

}
