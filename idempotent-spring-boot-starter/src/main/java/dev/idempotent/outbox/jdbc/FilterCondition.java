package dev.idempotent.outbox.jdbc;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.DeadEvents.DeadFilter;

/**
 * A condition on rows and its parameters.
 */
record FilterCondition(String sql, List<Object> parameters) {

	/**
	 * Adds the values of a filter to a condition.
	 */
	static FilterCondition of(Database database, DeadFilter filter, String sql, Object... parameters) {
		StringBuilder more = new StringBuilder(sql);
		List<Object> all = new ArrayList<>(List.of(parameters));
		if (filter.id() != null) {
			more.append(" and event_id = ?");
			all.add(database.parameter(filter.id()));
		}
		if (filter.type() != null) {
			more.append(" and type = ?");
			all.add(filter.type());
		}
		if (filter.topic() != null) {
			more.append(" and topic = ?");
			all.add(filter.topic());
		}
		return new FilterCondition(more.toString(), all);
	}

}
