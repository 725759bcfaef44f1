package dev.idempotent.benchmark.outbox;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * What PostgreSQL does for an event from the order to the removal of what was recorded:
 * row writes beside the order and the booking; statements, transactions and log with
 * them.
 */
final class HandledCostScenario implements Scenario {

	private final List<HandlerContender> contenders;

	private final Load load;

	private final int events;

	HandledCostScenario(List<HandlerContender> contenders, Load load, int events) {
		this.contenders = contenders.stream().filter(HandlerContender::isOutbox).toList();
		this.load = load;
		this.events = events;
	}

	@Override
	public String name() {
		return "cost";
	}

	@Override
	public void round(int number, Report report) {
		for (HandlerContender contender : Rounds.inTurn(this.contenders, number)) {
			measure(contender, true, "at once", report);
			measure(contender, false, "backlog", report);
		}
	}

	private void measure(HandlerContender contender, boolean atOnce, String how, Report report) {
		contender.tidy();
		Database database = contender.shop().database();
		StatementCount count = contender.shop().application().bean(StatementCount.class);
		count.count(true);
		long rows = rowWrites(contender);
		long log = logPosition(database);
		if (atOnce) {
			contender.startHandling();
		}
		Set<Long> orders = ConcurrentHashMap.newKeySet();
		this.load.times(this.events, () -> orders.add(contender.place()));
		contender.startHandling();
		contender.booking().awaitCount(this.events);
		contender.awaitEmpty();
		contender.stopHandling();
		add(contender, "statements, " + how, count.statements(), report);
		add(contender, "transactions, " + how, count.transactions(), report);
		add(contender, "bytes of WAL, " + how, logPosition(database) - log, report);
		count.count(false);
		add(contender, "row writes, " + how, rowWrites(contender) - rows, report);
		contender.booking().again(orders);
	}

	private void add(HandlerContender contender, String figure, long sum, Report report) {
		report.add(name(), contender.name(), figure, (double) sum / this.events);
	}

	/**
	 * Closes the connections of the pool, too, so that those which are opened next are
	 * counted or not.
	 */
	private static long rowWrites(HandlerContender contender) {
		return contender.shop()
			.database()
			.rowWritesBeside(List.of(contender.shop().application().bean(HikariDataSource.class)), "orders",
					Booking.TABLE);
	}

	private static long logPosition(Database database) {
		Long position = database.sql()
			.queryForObject("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint", Long.class);
		return (position != null) ? position : 0;
	}

}
