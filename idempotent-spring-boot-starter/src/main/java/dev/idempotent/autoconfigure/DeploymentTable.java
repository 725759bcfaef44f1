package dev.idempotent.autoconfigure;

import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.transaction.OwnTransactions;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;

/**
 * What the applications that use the same tables stated about themselves when they were
 * last started: attributes by namespace, stored beside these tables.
 */
public final class DeploymentTable {

	private static final String SUFFIX = "deployment";

	private static final int LONGEST_CONTENT = 1000;

	private final OwnTransactions transactions;

	private final String name;

	/**
	 * Creates a table.
	 * @param transactions the database
	 * @param prefix what precedes {@code deployment} in the name of the table
	 */
	public DeploymentTable(OwnTransactions transactions, String prefix) {
		if (!Database.isTableName(prefix)) {
			throw new IllegalArgumentException("'%s' is not a valid table prefix".formatted(prefix));
		}
		this.transactions = transactions;
		this.name = prefix + SUFFIX;
	}

	/**
	 * The name of the table.
	 * @return with the name of a schema and a dot if need be
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Reads all attributes.
	 * @return by namespace
	 * @throws org.springframework.dao.InvalidDataAccessResourceUsageException if there is
	 * no such table, or it is not readable
	 * @throws DataAccessException if the database does not answer
	 */
	public Map<String, Map<String, String>> read() {
		return this.transactions.runInTransaction((connection) -> {
			DatabaseRequirements.requireUnlocked(connection, this.name);
			Map<String, Map<String, String>> all = new HashMap<>();
			Statements.query(connection, "select namespace, attribute, content from " + this.name, List.of(),
					(row, number) -> all.computeIfAbsent(row.getString(1), (namespace) -> new HashMap<>())
						.put(row.getString(2), row.getString(3)));
			return all;
		});
	}

	/**
	 * Adds an attribute, unless another instance has added it.
	 * @param namespace whose attribute it is
	 * @param attribute the name of the attribute, at most 100 characters
	 * @param content its content, of which 1,000 characters are stored
	 * @throws DataAccessException if the database does not answer or is read-only
	 */
	public void add(String namespace, String attribute, String content) {
		try {
			change("insert into " + this.name + " (content, namespace, attribute) values (?, ?, ?)", limited(content),
					namespace, attribute);
		}
		catch (DataIntegrityViolationException ex) {
			// Another instance was first.
		}
	}

	/**
	 * Replaces an attribute, unless another instance has replaced it.
	 * @param namespace whose attribute it is
	 * @param attribute the name of the attribute
	 * @param before its content as it was read
	 * @param content its new content, of which 1,000 characters are stored
	 * @throws DataAccessException if the database does not answer or is read-only
	 */
	public void replace(String namespace, String attribute, String before, String content) {
		change("update " + this.name + " set content = ? where namespace = ? and attribute = ? and content = ?",
				limited(content), namespace, attribute, before);
	}

	private void change(String sql, Object... parameters) {
		int unused = OwnTransactions.repeat(
				() -> this.transactions.run((Connection connection) -> Statements.update(connection, sql, parameters)));
	}

	private static String limited(String content) {
		return content.substring(0, Math.min(content.length(), LONGEST_CONTENT));
	}

}
