package dev.idempotent.outbox.jdbc;

import java.util.regex.Pattern;

import dev.idempotent.outbox.LeasedEvent;

/**
 * The names of the tables.
 *
 * @param prefix what they begin with, in a schema if need be
 */
public record OutboxTables(String prefix) {

	private static final Pattern PREFIX = Pattern.compile("([A-Za-z_]\\w*\\.)?[A-Za-z_]\\w*");

	/**
	 * Refuses what could be more than the beginning of a name.
	 */
	public OutboxTables {
		if (!PREFIX.matcher(prefix).matches()) {
			throw new IllegalArgumentException("'%s' is no beginning of a table's name".formatted(prefix));
		}
	}

	/**
	 * Has the events that nobody has failed to deliver yet.
	 * @return the table's name
	 */
	public String event() {
		return this.prefix + "event";
	}

	/**
	 * Has the events that wait for another attempt.
	 * @return the table's name
	 */
	public String waiting() {
		return this.prefix + "waiting";
	}

	/**
	 * Has the events that were given up.
	 * @return the table's name
	 */
	public String dead() {
		return this.prefix + "dead";
	}

	String of(LeasedEvent event) {
		return of(event.parked());
	}

	String of(boolean parked) {
		return parked ? waiting() : event();
	}

}
