package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.transaction.OwnTransactions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Checks at the start that the database can store the events of an outbox.
 */
public final class OutboxTableCheck {

	private static final Logger logger = LoggerFactory.getLogger(OutboxTableCheck.class);

	private static final String UPDATE = " set attempts = 0, last_error = null, due_at = null where lane = -1 and id = -1";

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private final AtomicBoolean checked = new AtomicBoolean();

	/**
	 * Creates a check.
	 * @param transactions own transactions on the data source of the application's
	 * @param tablePrefix the common prefix of the names of the tables
	 */
	public OutboxTableCheck(OwnTransactions transactions, String tablePrefix) {
		this.tables = new OutboxTables(tablePrefix);
		this.database = new OutboxDatabase(transactions, this.tables);
	}

	/**
	 * Requires tables in one database. A database that does not answer may have them: if
	 * the outbox is on, the check is repeated and its result logged at the start, and by
	 * the relay before it delivers an event.
	 * @param reason why they are required: a clause for operators
	 * @return whether the database has answered
	 * @throws IdempotentConfigurationException if tables are missing, or the data source
	 * routes to several databases
	 */
	public boolean requireTables(String reason) {
		requireOneDatabase();
		boolean found;
		try {
			found = hasTables();
		}
		catch (DataAccessException ex) {
			logger.debug("The tables of the outbox could not be checked", ex);
			return false;
		}
		if (!found) {
			throw missing(reason + ", and ");
		}
		return true;
	}

	/**
	 * Describes what is missing.
	 * @param reason why it is required: the start of a sentence
	 * @return the failure, to be thrown
	 */
	public IdempotentConfigurationException missing(String reason) {
		return new IdempotentConfigurationException(reason + this.tables.missing() + ".",
				OutboxTables.howToCreate()
						+ (hasEventTable() ? ". Neither changes tables that exist: first drop the tables "
								+ "of an earlier version, after it has delivered their events." : "."));
	}

	/**
	 * Requires the privileges without which an event would not be delivered, or published
	 * again and again: executes the statements that claim, move and delete an event, for
	 * a row that does not exist, and rolls them back. Does nothing right after a check at
	 * the start.
	 * @throws IdempotentConfigurationException if the database refuses a statement
	 * @throws DataAccessException if the database does not answer within 5 seconds, as
	 * while a table is locked, or is read-only
	 */
	public void requirePrivileges() {
		if (!this.checked.getAndSet(false)) {
			checkPrivileges();
		}
	}

	/**
	 * Requires the privileges at the start, so that the relay, which starts next, need
	 * not.
	 * @throws IdempotentConfigurationException as for {@link #requirePrivileges}
	 * @throws DataAccessException as for {@link #requirePrivileges}
	 */
	public void requirePrivilegesAtStart() {
		this.checked.set(false);
		checkPrivileges();
		this.checked.set(true);
	}

	private void checkPrivileges() {
		try {
			this.database.runOnce(this::rehearse);
		}
		catch (DataAccessException ex) {
			if (Statements.isTransient(ex)) {
				throw ex;
			}
			throw new IdempotentConfigurationException(
					"The outbox relay could not remove events: " + ex.getMostSpecificCause().getMessage() + ".",
					"Create the tables by the script, and grant select, insert, update and delete on them.", ex);
		}
	}

	private boolean rehearse(Connection connection) {
		OutboxDialect dialect = this.database.dialect(connection);
		dialect.prepareCheck(connection);
		int unused = Statements.run(connection, "update " + this.tables.event() + UPDATE, false, List.of(),
				(update) -> {
					// A query timeout of H2 would remain in force on the connection.
					update.setQueryTimeout(dialect.checkTimeoutSeconds());
					return update.executeUpdate();
				});
		EventTable.toDead(connection, this.tables, -1, -1, 0);
		List<EventTable.Row> none = EventTable.moveDelayed(connection, this.tables,
				List.of(new EventTable.Row(-1, -1, "")), 0);
		// Triggers for each statement, such as triggers that write a log, have fired.
		Statements.execute(connection, "rollback");
		return none.isEmpty();
	}

	/**
	 * Rejects a data source that routes to several databases.
	 * @throws IdempotentConfigurationException if it does
	 */
	public void requireOneDatabase() {
		DatabaseRequirements.requireOneDatabase(this.database.dataSource(),
				"The outbox is stored in the database of the application's transactions",
				"events would be delivered only from the default one", "; or set idempotent.outbox.enabled=false");
	}

	/**
	 * Rejects a database that does not number rows in the order of their inserts.
	 * @throws dev.idempotent.IdempotentConfigurationException if it does not
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public void requireIncreasingRows() {
		this.database.run((connection) -> {
			this.database.dialect(connection).requireIncreasingRows(connection);
			return true;
		});
	}

	/**
	 * Checks that the tables exist.
	 * @return whether they exist with the columns of the scripts
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public boolean hasTables() {
		return exist(this::hasTables);
	}

	private boolean exist(Function<Connection, Boolean> check) {
		try {
			return this.database.runOnce(check);
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return false;
		}
	}

	private boolean hasTables(Connection connection) {
		String event = "lane, id, created_at, " + EventRow.COLUMNS;
		Map<String, String> all = new HashMap<>(Map.of(this.tables.event(), event + ", attempts, due_at, last_error",
				this.tables.delayed(), event + ", due_at", this.tables.dead(),
				event + ", sequence, attempts, last_error, died_at", this.tables.control(), "topic, paused_at"));
		if (this.database.dialect(connection).needsMarks()) {
			all.put(this.tables.transaction(), "id");
		}
		return all.entrySet()
			.stream()
			.allMatch((table) -> DatabaseRequirements.missingColumns(connection, table.getKey(), table.getValue())
				.isEmpty());
	}

	/**
	 * Checks whether the database has the table of events, whatever its other columns.
	 * @return whether events could be appended although other tables are missing
	 * @throws org.springframework.dao.DataAccessException if the database does not answer
	 */
	public boolean hasEventTable() {
		return exist(
				(connection) -> DatabaseRequirements.missingColumns(connection, this.tables.event(), "id").isEmpty());
	}

	/**
	 * Describes the missing tables.
	 * @return a clause for operators
	 */
	public String missingTables() {
		return this.tables.missing();
	}

}
