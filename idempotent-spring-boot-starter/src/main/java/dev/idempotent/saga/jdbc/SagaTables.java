package dev.idempotent.saga.jdbc;

import dev.idempotent.jdbc.Database;

/**
 * The names of the tables.
 *
 * @param prefix their common prefix, optionally qualified with the name of a schema
 */
public record SagaTables(String prefix) {

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

}
