package dev.idempotent.saga.jdbc;

import dev.idempotent.jdbc.Database;

/**
 * The names of the tables.
 *
 * @param prefix their common prefix, optionally qualified with the name of a schema
 */
record SagaTables(String prefix) {

	SagaTables {
		if (!Database.isTableName(prefix)) {
			throw new IllegalArgumentException("'%s' is not a valid table prefix".formatted(prefix));
		}
	}

	String instance() {
		return this.prefix + "instance";
	}

	String step() {
		return this.prefix + "step";
	}

	String signal() {
		return this.prefix + "signal";
	}

}
