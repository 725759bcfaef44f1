package dev.idempotent.state.jdbc;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The names of a table and its columns, and the statements on them.
 *
 * @param table the table, optionally qualified with the name of a schema
 * @param id the column of the primary key
 * @param state the column of the state
 * @param version the column of the version
 */
record GuardedTable(String table, String id, String state, String version) {

	private static final String PART = "([A-Za-z_]\\w*|\"[^\"\\x00]+\"|`[^`\\x00]+`)";

	private static final Pattern COLUMN = Pattern.compile(PART);

	private static final Pattern TABLE = Pattern.compile("(" + PART + "\\.)?" + PART);

	/**
	 * Validates the names.
	 */
	GuardedTable {
		require("table", TABLE, table);
		Map.of("id", id, "state", state, "version", version)
			.forEach((role, column) -> require(role + " column", COLUMN, column));
		if (List.of(id, state, version).stream().distinct().count() < 3) {
			throw new IllegalArgumentException(
					"The columns of id, state and version of %s must differ".formatted(table));
		}
	}

	private static void require(String role, Pattern pattern, String name) {
		if (!pattern.matcher(name).matches()) {
			throw new IllegalArgumentException(
					"'%s' is not a valid name of a %s: use letters, digits and underscores, or quote it as in SQL"
						.formatted(name, role));
		}
	}

	String updateByState() {
		return "update " + this.table + " set " + this.state + " = ?, " + this.version + " = " + this.version
				+ " + 1 where " + this.id + " = ? and " + this.state + " = ?";
	}

	String updateByVersion() {
		return updateByState() + " and " + this.version + " = ?";
	}

	String returning() {
		return " returning " + this.version;
	}

	String selectVersion() {
		return "select " + this.version + " from " + this.table + " where " + this.id + " = ?";
	}

	String lock() {
		return "select " + this.state + ", " + this.version + " from " + this.table + " where " + this.id
				+ " = ? for update";
	}

}
