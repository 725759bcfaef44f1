package dev.idempotent.saga.jdbc;

import dev.idempotent.jdbc.Database;

/**
 * The names of the tables.
 *
 * @param prefix their common prefix, optionally qualified with the name of a schema
 */
public record SagaTables(String prefix) {

	private static final String DEFAULT_PREFIX = "saga_";

	/**
	 * Validates the prefix.
	 */
	public SagaTables {
		if (!Database.isTableName(prefix)) {
			throw new IllegalArgumentException("'%s' is not a valid table prefix".formatted(prefix));
		}
	}

	/**
	 * The table of sagas.
	 * @return the table's name
	 */
	public String instance() {
		return this.prefix + "instance";
	}

	/**
	 * The table of the steps of sagas.
	 * @return the table's name
	 */
	public String step() {
		return this.prefix + "step";
	}

	/**
	 * Puts the names into one of the scripts in {@code dev/idempotent/schema}.
	 * @param script the script
	 * @return the script for these tables
	 */
	public String named(String script) {
		String unqualified = this.prefix.substring(this.prefix.indexOf('.') + 1);
		return script.replace(DEFAULT_PREFIX + "instance_due_at", unqualified + "instance_due_at")
			.replaceAll("\\b" + DEFAULT_PREFIX + "(instance|step)\\b", this.prefix + "$1");
	}

}
