package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.TableSweeper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired keys from each database that is in use, from its first use until the
 * sweepers are closed.
 */
public final class JdbcIdempotencySweepers implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcIdempotencySweepers.class);

	private final String table;

	private final Duration interval;

	private final Map<DataSource, TableSweeper> sweepers = new ConcurrentHashMap<>();

	/**
	 * Creates the sweepers of all databases; none is swept yet.
	 * @param table the name of the table in each database
	 * @param interval the pause between two sweeps of a database
	 */
	public JdbcIdempotencySweepers(String table, Duration interval) {
		this.table = table;
		this.interval = interval;
	}

	/**
	 * Sweeps a database from now on.
	 * @param dataSource the database
	 */
	public void sweep(DataSource dataSource) {
		this.sweepers.computeIfAbsent(dataSource, (database) -> {
			TableSweeper sweeper = sweeper(database, this.table, this.interval);
			sweeper.start();
			return sweeper;
		});
	}

	@Override
	public void close() {
		this.sweepers.values().forEach(TableSweeper::close);
	}

	static TableSweeper sweeper(DataSource dataSource, String table, Duration interval) {
		NonTransactionalConnections connections = new NonTransactionalConnections(dataSource);
		IdempotencyRecords records = new IdempotencyRecords(table);
		return new TableSweeper("idempotency-sweeper", "Expired idempotency keys", interval,
				(limit) -> connections.runInTransaction((connection) -> records.deleteExpired(connection, limit)),
				(swept) -> logger.debug("Deleted {} expired idempotency keys", swept));
	}

}
