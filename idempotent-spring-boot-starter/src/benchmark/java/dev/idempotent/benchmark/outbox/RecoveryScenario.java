package dev.idempotent.benchmark.outbox;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.outbox.jdbc.LaneHash;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * How long it takes to deliver the event of an instance that died, beside many keys that
 * wait for another attempt: from the beginning of its lease.
 */
final class RecoveryScenario implements Scenario {

	private static final String INSERT = "insert into outbox_event (lane, event_id, topic, event_key, type, payload, "
			+ "attempts, last_error, due_at) ";

	private static final int LEASE_SECONDS = 30;

	private static final double NANOS_PER_SECOND = 1e9;

	private final OwnOutbox outbox;

	private final int keys;

	RecoveryScenario(OwnOutbox outbox, int keys) {
		this.outbox = outbox;
		this.keys = keys;
	}

	@Override
	public String name() {
		return "recovery";
	}

	@Override
	public void round(int number, Report report) {
		JdbcTemplate sql = this.outbox.shop().database().sql();
		sql.execute("truncate outbox_event");
		sql.update(
				INSERT + "select ? & ~1099511627775 | (random() * 1099511627775)::bigint, gen_random_uuid(), ?, "
						+ "'key ' || i, 'order.placed', convert_to(repeat('x', 250), 'UTF8'), 1, 'refused', "
						+ "clock_timestamp() + interval '1 day' from generate_series(1, ?) i",
				LaneHash.of(this.outbox.topic(), null), this.outbox.topic(), this.keys);
		this.outbox.tidy();
		this.outbox.startDelivery();
		long begin = System.nanoTime();
		sql.update(
				INSERT + "values (?, gen_random_uuid(), ?, 'orphan', 'order.placed', '', 1, null, "
						+ "clock_timestamp() + ? * interval '1 second')",
				LaneHash.of(this.outbox.topic(), "orphan"), this.outbox.topic(), LEASE_SECONDS);
		this.outbox.stream().awaitLength(1);
		double seconds = (System.nanoTime() - begin) / NANOS_PER_SECOND;
		this.outbox.stopDelivery();
		report.add(name(), this.outbox.name(), "s, lease included", seconds);
		report.ratio("recovery-seconds", seconds);
	}

}
