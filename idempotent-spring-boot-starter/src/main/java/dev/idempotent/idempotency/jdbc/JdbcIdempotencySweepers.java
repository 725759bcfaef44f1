package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

/**
 * Deletes expired keys from the databases that are in use, from their first use until it
 * is closed.
 */
public final class JdbcIdempotencySweepers implements AutoCloseable {

	private final String table;

	private final Duration interval;

	private final Map<DataSource, JdbcIdempotencySweeper> sweepers = new ConcurrentHashMap<>();

	/**
	 * Creates it; nothing is swept yet.
	 * @param table the table in each database
	 * @param interval how often each is swept
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
			JdbcIdempotencySweeper sweeper = new JdbcIdempotencySweeper(database, this.table, this.interval);
			sweeper.start();
			return sweeper;
		});
	}

	@Override
	public void close() {
		this.sweepers.values().forEach(JdbcIdempotencySweeper::close);
	}

}
