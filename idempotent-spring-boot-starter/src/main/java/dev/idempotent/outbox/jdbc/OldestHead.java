package dev.idempotent.outbox.jdbc;

import dev.idempotent.jdbc.Database;

/**
 * The age of the oldest ordered event that could be delivered: the first of its key, and
 * neither failed nor blocked. Examines a limited number of rows, because no index sorts
 * them by age.
 */
final class OldestHead {

	private OldestHead() {
	}

	/**
	 * Returns a query of one value in milliseconds, which is null if there is no such
	 * event.
	 * @param examined how many rows to examine
	 * @param condition a further condition, beginning with {@code and}, or an empty text
	 */
	static String age(Database kind, OutboxTables tables, int examined, String condition) {
		return "select " + kind.millisSince("created_at") + " from (select min(created_at) as created_at from "
				+ "(select id, key_hash, topic, created_at, available_at, last_error from " + tables.ordered()
				+ " limit " + examined + ") head where last_error is null and available_at <> "
				+ BlockedRows.never(kind) + condition + " and not exists (select 1 from " + tables.ordered()
				+ " lower where lower.key_hash = head.key_hash and lower.id < head.id)) oldest";
	}

}
