package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;

/**
 * Checks that the database numbers the rows of ordered events in the order of their
 * inserts.
 */
final class OrderedIds {

	private static final String REASON = " Events could be delivered in another order than that of their transactions.";

	private static final String OR = ", or set idempotent.outbox.order=none.";

	private final OutboxTables tables;

	OrderedIds(OutboxTables tables) {
		this.tables = tables;
	}

	/**
	 * Rejects a database that does not.
	 * @throws IdempotentConfigurationException if it does not
	 */
	void require(Database database, Connection connection) {
		switch (database) {
			case POSTGRESQL -> requireSequence(connection);
			case MYSQL -> requireCounter(connection);
			// All sessions share one cache of its sequences.
			case H2 -> {
			}
		}
	}

	private void requireSequence(Connection connection) {
		String alter = "alter table " + this.tables.event() + " alter column id set ";
		Statements
			.query(connection,
					"select seqcache, seqincrement, seqcycle from pg_sequence "
							+ "where seqrelid = pg_get_serial_sequence(?, 'id')::regclass",
					List.of(this.tables.event()),
					(row, number) -> new Sequence(row.getLong(1), row.getLong(2), row.getBoolean(3)))
			.forEach((sequence) -> {
				reject(sequence.cache() > 1, "each session caches " + sequence.cache() + " of its values",
						alter + "cache 1");
				reject(sequence.increment() < 1, "its values decrease", alter + "increment 1");
				reject(sequence.cycles(), "its values repeat", alter + "no cycle");
			});
	}

	private void reject(boolean rejected, String why, String statement) {
		if (rejected) {
			throw new IdempotentConfigurationException(
					"The sequence of %s.id does not increase with each insert: %s.".formatted(this.tables.event(), why)
							+ REASON,
					"Run '" + statement + "'" + OR, null);
		}
	}

	private static void requireCounter(Connection connection) {
		Map<String, String> variables = Statements
			.query(connection, "show variables where variable_name in ('auto_increment_increment', 'wsrep_on')",
					List.of(), (row, number) -> Map.entry(row.getString(1), row.getString(2)))
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		if (variables.getOrDefault("wsrep_on", "OFF").equalsIgnoreCase("ON")) {
			throw new IdempotentConfigurationException(
					"The database is a node of a cluster whose nodes number rows "
							+ "independently of each other (wsrep_on is ON)." + REASON,
					"Use a database with one primary server" + OR, null);
		}
		String increment = variables.getOrDefault("auto_increment_increment", "1");
		if (!increment.equals("1")) {
			throw new IdempotentConfigurationException(
					"auto_increment_increment is " + increment
							+ ", as for several servers that number rows independently of each other." + REASON,
					"Set auto_increment_increment to 1 and write to one server only" + OR, null);
		}
	}

	private record Sequence(long cache, long increment, boolean cycles) {
	}

}
