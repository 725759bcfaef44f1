package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.util.List;

import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.saga.SagaStatus;

/**
 * The sagas that have ended and whose retention has ended.
 */
final class EndedSagas {

	private final Connection connection;

	private final Database database;

	private final SagaTables tables;

	EndedSagas(Connection connection, Database database, SagaTables tables) {
		this.connection = connection;
		this.database = database;
		this.tables = tables;
	}

	/**
	 * Locks rows that no transaction has locked and deletes them with their steps, one by
	 * one: with a list of ids, MySQL may read the whole table and wait for the locks of
	 * others.
	 * @return how many
	 */
	int delete(SagaStatus status, int limit) {
		List<List<String>> ids = SagaStatements.query(this.connection,
				"select id from " + this.tables.instance() + " where status = ? and due_at <= "
						+ this.database.nowForIndexes() + " order by due_at limit ? for update skip locked",
				List.<Object>of(status.name(), limit), (row, number) -> List.of(row.getString(1)));
		if (!ids.isEmpty()) {
			Statements.updateEach(this.connection, "delete from " + this.tables.step() + " where saga_id = ?", ids);
			Statements.updateEach(this.connection, "delete from " + this.tables.instance() + " where id = ?", ids);
		}
		return ids.size();
	}

}
