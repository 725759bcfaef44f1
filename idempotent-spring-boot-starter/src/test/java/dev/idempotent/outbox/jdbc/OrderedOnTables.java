package dev.idempotent.outbox.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.OrderedRowState;
import dev.idempotent.outbox.TestedOrderedStore;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A store of ordered events on tables for a test.
 *
 * @param tables the tables
 * @param store the store
 */
record OrderedOnTables(StoreOnTables tables, JdbcOrderedStore store) implements TestedOrderedStore {

	static OrderedOnTables on(StoreOnTables tables) {
		return on(tables, PayloadEncryption.NONE);
	}

	static OrderedOnTables on(StoreOnTables tables, PayloadEncryption encryption) {
		return new OrderedOnTables(tables, new JdbcOrderedStore(tables.dataSource(), tables.tables(), encryption));
	}

	JdbcTemplate template() {
		return this.tables.template();
	}

	String table() {
		return this.tables.tables().ordered();
	}

	@Override
	public PlatformTransactionManager transactions() {
		return this.tables.transactions();
	}

	@Override
	public void passTime(String topic) {
		TransactionTemplate transaction = new TransactionTemplate(transactions());
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		transaction.executeWithoutResult((status) -> template()
			.queryForList("select id from " + table() + " where topic = ? and available_at < " + year(9999)
					+ " order by id for update skip locked", Long.class, topic)
			.forEach((row) -> template()
				.update("update " + table() + " set available_at = " + year(2001) + " where id = ?", row)));
	}

	private String year(int year) {
		return (this.tables.database() == Database.MYSQL) ? "timestamp '" + year + "-01-01 00:00:00'"
				: "timestamp with time zone '" + year + "-01-01 00:00:00+00'";
	}

	@Override
	public List<OrderedRowState> rows(String topic) {
		return template().query(
				"select id as row_id, key_hash, coalesce(sequence, id) as id, claim_id, claimed_by, last_error, "
						+ "available_at >= " + year(9999) + " as blocked, " + EventColumn.readAfterId(Integer.MAX_VALUE)
						+ " from " + table() + " where topic = ? order by key_hash, row_id",
				(row, number) -> new OrderedRowState(EventRow.of(row).event(), row.getLong("key_hash"),
						row.getLong("row_id"), id(row), row.getString("claimed_by"), row.getString("last_error"),
						row.getBoolean("blocked")),
				topic);
	}

	private static @Nullable UUID id(ResultSet row) throws SQLException {
		String id = row.getString("claim_id");
		return (id != null) ? UUID.fromString(id) : null;
	}

	@Override
	public List<DeadOrderedEvent> dead(String topic) {
		return template().query(
				"select sequence as id, id as row_id, key_hash, last_error, "
						+ EventColumn.readAfterId(Integer.MAX_VALUE) + " from " + this.tables.tables().dead()
						+ " where topic = ? order by row_id",
				(row, number) -> new DeadOrderedEvent(EventRow.of(row).event(), row.getLong("key_hash"),
						row.getString("last_error")),
				topic);
	}

}
