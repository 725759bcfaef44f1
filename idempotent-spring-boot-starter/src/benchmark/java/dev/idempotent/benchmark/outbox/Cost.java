package dev.idempotent.benchmark.outbox;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Report;

/**
 * What PostgreSQL does for events, from the transactions of the application to the
 * removal of what was recorded: row writes beside the writes of the application;
 * statements, transactions and log with them.
 */
final class Cost {

	private final Shop shop;

	private final String[] beside;

	private final StatementCount count;

	private final long rows;

	private final long log;

	private Cost(Shop shop, String... beside) {
		this.shop = shop;
		this.beside = beside;
		this.count = shop.application().bean(StatementCount.class);
		this.count.count(true);
		this.rows = rowWrites();
		this.log = logPosition();
	}

	/**
	 * Begins to count.
	 * @param shop is not in use
	 * @param beside the tables of the application
	 */
	static Cost begin(Shop shop, String... beside) {
		return new Cost(shop, beside);
	}

	/**
	 * Reports what was counted for each event, and ends counting.
	 * @param when is added to the figures
	 */
	void end(Report report, String scenario, String contender, String when, long events) {
		report.add(scenario, contender, "statements" + when, (double) this.count.statements() / events);
		report.add(scenario, contender, "transactions" + when, (double) this.count.transactions() / events);
		report.add(scenario, contender, "bytes of WAL" + when, (double) (logPosition() - this.log) / events);
		this.count.count(false);
		report.add(scenario, contender, "row writes" + when, (double) (rowWrites() - this.rows) / events);
	}

	/**
	 * Closes the connections of the pool, too, so that those which are opened next are
	 * counted or not.
	 */
	private long rowWrites() {
		return this.shop.database()
			.rowWritesBeside(List.of(this.shop.application().bean(HikariDataSource.class)), this.beside);
	}

	private long logPosition() {
		Database database = this.shop.database();
		Long position = database.sql()
			.queryForObject("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint", Long.class);
		return (position != null) ? position : 0;
	}

}
