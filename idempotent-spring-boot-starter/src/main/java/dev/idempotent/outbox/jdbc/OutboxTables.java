package dev.idempotent.outbox.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.EventFilter;

/**
 * The names of the tables, and what searches of operators have in common.
 *
 * @param prefix their common prefix, after the name of a schema and a dot if need be
 */
record OutboxTables(String prefix) {

	/**
	 * How many rows a page of a list examines at most.
	 */
	static final int MAX_EXAMINED = 10_000;

	OutboxTables {
		if (!Database.isTableName(prefix)) {
			throw new IllegalArgumentException("'%s' is not a valid table prefix".formatted(prefix));
		}
	}

	/**
	 * The table of events that can be delivered.
	 */
	String event() {
		return this.prefix + "event";
	}

	/**
	 * The table of events that are to be delivered later.
	 */
	String delayed() {
		return this.prefix + "delayed";
	}

	/**
	 * The table of paused topics.
	 */
	String control() {
		return this.prefix + "control";
	}

	/**
	 * The table of marks of open transactions, not on PostgreSQL.
	 */
	String transaction() {
		return this.prefix + "transaction";
	}

	/**
	 * The table of dead events, those without a next attempt.
	 */
	String dead() {
		return this.prefix + "dead";
	}

	/**
	 * Describes missing tables, as a clause for operators.
	 */
	String missing() {
		return "the database lacks the tables of the outbox ("
				+ String.join(", ", event(), delayed(), dead(), control()) + ", and except on PostgreSQL "
				+ transaction() + "), denies access to them, or they have other columns";
	}

	/**
	 * Describes how to create the tables, as a sentence without a full stop.
	 */
	static String howToCreate() {
		return Database.howToCreateTables("<database>", "outbox", "idempotent.outbox");
	}

	/**
	 * The condition that the preceding column has one of the given values.
	 * @param rows at least one
	 */
	static String in(Collection<Long> rows) {
		return rows.stream().sorted().map(String::valueOf).collect(Collectors.joining(", ", " in (", ")"));
	}

	/**
	 * Returns the condition that an event matches a filter, and adds its parameters.
	 */
	static String matching(Database kind, EventFilter filter, List<Object> parameters) {
		StringBuilder condition = new StringBuilder();
		if (filter.id() != null) {
			condition.append(" and event_id = ?");
			parameters.add(kind.parameter(filter.id()));
		}
		if (filter.type() != null) {
			condition.append(" and type = ?");
			parameters.add(filter.type());
		}
		if (filter.topic() != null) {
			condition.append(" and topic = ?");
			parameters.add(filter.topic());
		}
		if (filter.upTo() != null) {
			condition.append(" and id <= ?");
			parameters.add(filter.upTo());
		}
		return condition.toString();
	}

}
