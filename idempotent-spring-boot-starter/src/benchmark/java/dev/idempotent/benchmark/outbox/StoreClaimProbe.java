package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.jdbc.JdbcOutboxStore;
import dev.idempotent.outbox.jdbc.OutboxTables;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The claims of this project's store: behind the last claimed row, as a relay nearly
 * always does, or from the low-water mark, as it does now and then.
 */
final class StoreClaimProbe implements ClaimProbe {

	private static final String ROW = """
			gen_random_uuid(), 'redis-stream:bench', 'order.placed', 'application/json',
			convert_to(repeat('x', 250), 'UTF8'), '{}', clock_timestamp(), clock_timestamp()""";

	private static final String COLUMNS = "event_id, topic, type, content_type, payload, headers, created_at, available_at";

	private final JdbcTemplate jdbc;

	private final JdbcOutboxStore store;

	private final boolean fromTheFirstRow;

	private List<LeasedEvent> claimed = List.of();

	private long last;

	StoreClaimProbe(DataSource dataSource, boolean fromTheFirstRow) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.store = new JdbcOutboxStore(dataSource, new OutboxTables("outbox_"), PayloadEncryption.NONE);
		this.fromTheFirstRow = fromTheFirstRow;
		new ResourceDatabasePopulator(new ClassPathResource("schema-postgresql.sql", JdbcOutboxStore.class))
			.execute(dataSource);
	}

	@Override
	public void empty() {
		this.jdbc.execute("truncate outbox_event, outbox_waiting");
		this.claimed = List.of();
		this.last = 0;
	}

	@Override
	public void addDue(int rows) {
		this.jdbc.update("insert into outbox_event (" + COLUMNS + ") select " + ROW + " from generate_series(1, ?)",
				rows);
	}

	@Override
	public void addWaiting(int rows) {
		this.jdbc.update("insert into outbox_waiting (id, attempts, " + COLUMNS + ") select n, 1, "
				+ ROW.replaceAll("clock_timestamp\\(\\)$", "clock_timestamp() + interval '1 day'")
				+ " from generate_series(1, ?) n", rows);
	}

	@Override
	public int claim(int limit) {
		this.claimed = this.store.claim(EventLease.by("probe", Duration.ofHours(1)),
				new ClaimScope(false, this.fromTheFirstRow ? this.store.lowWaterMark().orElse(0) : this.last, Set.of("redis-stream"), limit));
		if (!this.claimed.isEmpty()) {
			this.last = this.claimed.get(this.claimed.size() - 1).event().sequence();
		}
		return this.claimed.size();
	}

	@Override
	public void deleteClaimed() {
		this.store.delivered(this.claimed);
		this.claimed = List.of();
	}

}
