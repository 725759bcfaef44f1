package dev.idempotent.benchmark.outbox;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.benchmark.Throughput;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The yardstick of a drain: rows like an outbox's, inserted by one client in JDBC batches
 * of 500, each in a transaction.
 */
final class BatchedInserts {

	private static final int BATCH = 500;

	private static final String CREATE = "create table if not exists yardstick (id bigint generated always as identity"
			+ " primary key, event_id uuid not null, topic text not null, type text not null, payload bytea not null,"
			+ " headers text, created_at timestamptz not null default clock_timestamp())";

	private static final String INSERT = "insert into yardstick (event_id, topic, type, payload, headers)"
			+ " values (?, ?, ?, ?, ?)";

	private static final byte[] PAYLOAD = "x".repeat(250).getBytes(StandardCharsets.US_ASCII);

	private static final List<Integer> ROWS = Collections.nCopies(BATCH, 0);

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	BatchedInserts(DataSource pool) {
		this.jdbc = new JdbcTemplate(pool);
		this.transactions = new TransactionTemplate(new JdbcTransactionManager(pool));
		this.jdbc.execute(CREATE);
	}

	/**
	 * Inserts rows into the empty table.
	 * @param count rounded up to whole batches
	 */
	Throughput insert(int count) {
		this.jdbc.execute("truncate yardstick");
		long begin = System.nanoTime();
		int inserted = 0;
		for (; inserted < count; inserted += BATCH) {
			this.transactions.executeWithoutResult((status) -> insertBatch());
		}
		return new Throughput(inserted, System.nanoTime() - begin);
	}

	private void insertBatch() {
		this.jdbc.batchUpdate(INSERT, ROWS, BATCH, (statement, row) -> {
			statement.setObject(1, UUID.randomUUID());
			statement.setString(2, "redis-stream:bench");
			statement.setString(3, "order.placed");
			statement.setBytes(4, PAYLOAD);
			statement.setString(5, "{}");
		});
	}

}
