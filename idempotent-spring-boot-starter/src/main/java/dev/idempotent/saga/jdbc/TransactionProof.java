package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.Statements;

/**
 * Proves that a transaction has been neither committed nor rolled back since it locked a
 * saga. MySQL and H2 may do either implicitly, after a deadlock or for a statement such
 * as {@code create table}; PostgreSQL does neither.
 */
final class TransactionProof {

	private static final int UNKNOWN_SAVEPOINT = 1305;

	private final Connection connection;

	private final Database database;

	private final String name;

	TransactionProof(Connection connection, Database database, IdempotencyKey saga) {
		this.connection = connection;
		this.database = database;
		this.name = "saga_" + saga.digest();
	}

	/**
	 * Begins the proof in a transaction that has locked the saga.
	 */
	void begin() {
		switch (this.database) {
			case POSTGRESQL -> {
			}
			case MYSQL -> SagaStatements.execute(this.connection, "savepoint " + this.name);
			case H2 -> SagaStatements.execute(this.connection, "set @" + this.name + " = transaction_id()");
		}
	}

	/**
	 * Ends the proof.
	 * @return {@code false} if the transaction has ended since
	 */
	boolean end() {
		return switch (this.database) {
			case POSTGRESQL -> true;
			case MYSQL -> releaseSavepoint();
			case H2 -> SagaStatements.exists(this.connection, "select 1 where transaction_id() = @" + this.name);
		};
	}

	/**
	 * A savepoint ends with its transaction.
	 */
	private boolean releaseSavepoint() {
		String sql = "release savepoint " + this.name;
		try (Statement statement = this.connection.createStatement()) {
			statement.execute(sql);
			return true;
		}
		catch (SQLException ex) {
			if (ex.getErrorCode() == UNKNOWN_SAVEPOINT) {
				return false;
			}
			throw Statements.translate(sql, ex);
		}
	}

}
