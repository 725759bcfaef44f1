package dev.idempotent.outbox.jdbc;

import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.RoutingDataSources;
import dev.idempotent.jdbc.Statements;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Checks at the start that the database can store the events of an outbox.
 */
public final class OutboxTableCheck {

	private final DataSource dataSource;

	private final OutboxDatabase database;

	private final OutboxTables tables;

	/**
	 * Creates a check.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 */
	public OutboxTableCheck(DataSource dataSource, OutboxTables tables) {
		this.dataSource = NonTransactionalConnections.withoutTransactions(dataSource);
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
	}

	/**
	 * Requires tables in one database.
	 * @param reason why they are required: a clause for operators
	 * @throws IdempotentConfigurationException if tables are missing, or the data source
	 * routes to several databases
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public void requireTables(String reason) {
		requireOneDatabase();
		if (!hasTables()) {
			throw new IdempotentConfigurationException(reason + ", and " + missingTables() + ".",
					howToCreateTables() + ".", null);
		}
	}

	/**
	 * Rejects a data source that routes to several databases.
	 * @throws IdempotentConfigurationException if it does
	 */
	public void requireOneDatabase() {
		String router = RoutingDataSources.find(this.dataSource);
		if (router != null) {
			throw new IdempotentConfigurationException(
					"The outbox is stored in the database of the application's transactions, and the DataSource "
							+ router
							+ " routes to several databases: events would be delivered only from the default one.",
					RoutingDataSources.REMEDY + "; or set idempotent.outbox.enabled=false.", null);
		}
	}

	/**
	 * Rejects a database that does not number rows in the order of their inserts.
	 * @throws dev.idempotent.IdempotentConfigurationException if it does not
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public void requireIncreasingRows() {
		this.database.run((connection) -> {
			new OrderedIds(this.tables).require(this.database.kind(connection), connection);
			return true;
		});
	}

	/**
	 * Checks that the tables exist.
	 * @return whether they exist with the columns of the scripts
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public boolean hasTables() {
		try {
			this.database
				.runOnce((connection) -> new TableProbe(this.tables).read(this.database.kind(connection), connection));
			return true;
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return false;
		}
	}

	/**
	 * Checks whether the database has the table of pending events, whatever its columns.
	 * @return whether events could be appended although other tables are missing
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public boolean hasEventTable() {
		String sql = "select 1 from " + this.tables.event() + " where 1 = 0";
		try {
			this.database.run((connection) -> Statements.query(connection, sql, List.of(), (row, number) -> number));
			return true;
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return false;
		}
	}

	/**
	 * Describes the missing tables.
	 * @return a clause for operators
	 */
	public String missingTables() {
		return this.tables.missing();
	}

	/**
	 * Describes how to create the tables.
	 * @return a sentence for operators, without a full stop
	 */
	public String howToCreateTables() {
		return OutboxTables.howToCreate();
	}

}
