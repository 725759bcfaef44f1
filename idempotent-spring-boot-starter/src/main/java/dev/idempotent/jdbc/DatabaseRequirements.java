package dev.idempotent.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.work.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * What all promises require of the application's database and transaction manager,
 * checked at the start.
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
	 * @return those that it lacks
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
	 * Finds the transaction manager of a promise.
	 * @param beans contains the managers
	 * @param name the name of its bean, or {@code null} for the only or primary one
	 * @param reason why one is required: a clause
	 * @param place where to name one, as the end of a sentence
	 * @return the manager
	 * @throws IdempotentConfigurationException if there is none, or several of which none
	 * is primary
	 */
	public static PlatformTransactionManager requireManager(BeanFactory beans, @Nullable String name, String reason,
			String place) {
		TransactionManager manager = (name != null) ? named(beans, name, reason, place)
				: beans.getBeanProvider(TransactionManager.class).getIfUnique();
		if (manager == null) {
			throw new IdempotentConfigurationException(
					reason + ", and there is no transaction manager, or several without a primary one.",
					"Add spring-boot-starter-jdbc or -data-jpa, or name one in " + place + ".");
		}
		if (manager instanceof PlatformTransactionManager found) {
			return found;
		}
		throw new IdempotentConfigurationException(reason + ", and its transaction manager is reactive.",
				"Name another one in " + place + ".");
	}

	private static TransactionManager named(BeanFactory beans, String name, String reason, String place) {
		try {
			return BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, name);
		}
		catch (BeansException ex) {
			throw new IdempotentConfigurationException(
					reason + ", and there is not exactly one transaction manager '" + name + "'.",
					"Name one in " + place + ".", ex);
		}
	}

	/**
	 * Requires that a manager begins its transactions on a data source, and on no other
	 * one. Only logs a warning if the database does not answer.
	 * @param manager the manager
	 * @param dataSource the data source whose connections it must bind
	 * @param reason why that is required: a clause
	 * @param place where to name another one, as the end of a sentence
	 * @return {@code false} if the database does not answer
	 * @throws IdempotentConfigurationException if it does not
	 */
	public static boolean requireTransactions(PlatformTransactionManager manager, DataSource dataSource, String reason,
			String place) {
		if (isJta(manager)) {
			throw jta(manager, reason, "Name the DataSourceTransactionManager or JpaTransactionManager of the "
					+ "application's DataSource in " + place + ".");
		}
		boolean bound;
		boolean several;
		try {
			Set<Object> before = TransactionInspector.connections(Set.of()).collect(Collectors.toUnmodifiableSet());
			TransactionStatus status = TransactionInspector.begin(manager,
					new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
			bound = TransactionInspector.isBound(dataSource);
			several = TransactionInspector.connections(before).count() > 1;
			manager.rollback(status);
		}
		catch (TransactionException ex) {
			warnOfSilence("the transaction manager", ex);
			return false;
		}
		if (!bound) {
			throw new IdempotentConfigurationException(
					reason + ", and its transaction manager (" + manager.getClass().getName()
							+ ") does not work on the application's DataSource.",
					"Mark the DataSource of the manager as @Primary, or name a manager that works on the "
							+ "application's DataSource in " + place + ".");
		}
		if (several) {
			throw new IdempotentConfigurationException(
					reason + ", and its transaction manager (" + manager.getClass().getName()
							+ ") commits the transactions of several databases one after another: if one commit fails, "
							+ "those before it remain.",
					"Name the manager of one DataSource in " + place + ".");
		}
		return true;
	}

	/**
	 * Rejects an application all of whose transaction managers are ones of JTA.
	 * @param beans contains the managers
	 * @param reason why another one is required: a clause
	 * @throws IdempotentConfigurationException if there is no other one
	 */
	public static void requireOtherThanJta(BeanFactory beans, String reason) {
		List<TransactionManager> all = beans.getBeanProvider(TransactionManager.class).stream().toList();
		if (!all.isEmpty() && all.stream().allMatch(DatabaseRequirements::isJta)) {
			throw jta(all.get(0), reason,
					"Use the DataSourceTransactionManager or JpaTransactionManager of the application's DataSource.");
		}
	}

	private static IdempotentConfigurationException jta(TransactionManager manager, String reason, String action) {
		return new IdempotentConfigurationException(reason + ", and its transaction manager ("
				+ manager.getClass().getName() + ") is one of JTA, which is not supported.", action);
	}

	/**
	 * Returns whether a manager is that of JTA, which binds no connection when a
	 * transaction begins.
	 */
	private static boolean isJta(TransactionManager manager) {
		// By name, because the class needs the API of JTA.
		return Stream.<Class<?>>iterate(manager.getClass(), Objects::nonNull, Class::getSuperclass)
			.anyMatch((type) -> type.getName().equals("org.springframework.transaction.jta.JtaTransactionManager"));
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
