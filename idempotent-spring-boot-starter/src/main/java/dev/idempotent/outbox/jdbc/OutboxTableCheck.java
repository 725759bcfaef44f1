package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
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

	private static final String REASON = " Events could be delivered in an order other than the order of their transactions.";

	private static final String OR = ", or set idempotent.outbox.order=none.";

	private static final String PLAIN = "select 1 from pg_class where oid = ?::regclass and relkind = 'r' "
			+ "and not exists (select 1 from pg_inherits where inhparent = pg_class.oid)";

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
		this.database = new OutboxDatabase(transactions);
		this.tables = new OutboxTables(tablePrefix);
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
			if (Statements.isPassing(ex)) {
				throw ex;
			}
			throw new IdempotentConfigurationException(
					"The outbox relay could not remove events: " + ex.getMostSpecificCause().getMessage() + ".",
					"Create the tables by the script, and grant select, insert, update and delete on them.", ex);
		}
	}

	private boolean rehearse(Connection connection) {
		if (this.database.kind(connection) == Database.POSTGRESQL) {
			Statements.execute(connection, "set local lock_timeout = '5s'");
			// The place of a row, by which it is found, is not unique in several tables.
			if (Statements.query(connection, PLAIN, List.of(this.tables.event()), (row, number) -> number).isEmpty()) {
				throw new InvalidDataAccessResourceUsageException(
						this.tables.event() + " is a view, or has partitions or child tables");
			}
		}
		int unused = Statements.run(connection, "update " + this.tables.event() + UPDATE, false, List.of(),
				(update) -> {
					// A query timeout of H2 would remain in force on the connection.
					update.setQueryTimeout((this.database.kind() == Database.MYSQL) ? 5 : 0);
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
			switch (this.database.kind(connection)) {
				case POSTGRESQL -> requireSequence(connection);
				case MYSQL -> requireCounter(connection);
				// All sessions share one cache of its sequences.
				case H2 -> {
				}
			}
			return true;
		});
	}

	private void requireSequence(Connection connection) {
		String alter = "Run 'alter table " + this.tables.event() + " alter column id set ";
		String why = "The sequence of " + this.tables.event() + ".id does not increase with each insert: ";
		Statements.query(connection,
				"select seqcache, seqincrement, seqcycle from pg_sequence "
						+ "where seqrelid = pg_get_serial_sequence(?, 'id')::regclass",
				List.of(this.tables.event()), (sequence, number) -> {
					reject(sequence.getLong(1) > 1,
							why + "each session caches " + sequence.getLong(1) + " of its values", alter + "cache 1'");
					reject(sequence.getLong(2) < 1, why + "its values decrease", alter + "increment 1'");
					reject(sequence.getBoolean(3), why + "its values repeat", alter + "no cycle'");
					return true;
				});
	}

	private static void reject(boolean rejected, String why, String action) {
		if (rejected) {
			throw new IdempotentConfigurationException(why + "." + REASON, action + OR);
		}
	}

	private static void requireCounter(Connection connection) {
		Map<String, String> variables = Statements
			.query(connection, "show variables where variable_name in ('auto_increment_increment', 'wsrep_on')",
					List.of(), (row, number) -> Map.entry(row.getString(1), row.getString(2)))
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		reject(variables.getOrDefault("wsrep_on", "OFF").equalsIgnoreCase("ON"),
				"The database is a node of a cluster whose nodes number rows independently of each other (wsrep_on is ON)",
				"Use a database with one primary server");
		String increment = variables.getOrDefault("auto_increment_increment", "1");
		reject(!increment.equals("1"),
				"auto_increment_increment is " + increment
						+ ", as for several servers that number rows independently of each other",
				"Set auto_increment_increment to 1 and write to one server only");
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
		if (this.database.kind(connection) != Database.POSTGRESQL) {
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
