package dev.idempotent.outbox.relay;

import java.util.Objects;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The cost of a backlog that cannot be delivered.
 */
@Tag("long")
class PostgresBacklogCostIntegrationTests {

	private static final int BACKLOG = 20_000;

	private static final int OTHERS = 40;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private Shop shop;

	@BeforeEach
	void open() {
		this.shop = Shop.open(postgres.properties(), Shop.OFTEN, OtherPublisher.class,
				"idempotent.outbox.relay.full-scan-interval=1h");
		this.shop.forgetAll();
	}

	@AfterEach
	void close() {
		this.shop.relay().stop();
		this.shop.forgetAll();
		this.shop.close();
	}

	@Test
	void readsTheBacklogOfAnUnavailablePublisherOnlyAFewTimes() {
		this.shop.broker().answer((event) -> new Outcome.Unavailable("away"));
		this.shop.append("first");
		await().untilAsserted(() -> assertThat(this.shop.relay().unavailablePublishers()).containsExactly("test"));
		this.shop.database()
			.sql("insert into relay_event (event_id, topic, type, payload) "
					+ "select gen_random_uuid(), ?, 'kept', '' from generate_series(1, ?)")
			.param(RecordingPublisher.TOPIC)
			.param(BACKLOG)
			.update();
		// Each publisher reads it once or twice.
		deliverToTheOther(this.shop, 10);
		long before = rowsRead(this.shop);
		deliverToTheOther(this.shop, OTHERS);
		// Statistics are reported with a delay.
		deliverToTheOther(this.shop, OTHERS);
		assertThat(rowsRead(this.shop) - before).isLessThan(20L * BACKLOG);
		assertThat(this.shop.broker().published()).isEmpty();
		assertThat(this.shop.pending()).isGreaterThanOrEqualTo(BACKLOG);
	}

	/**
	 * Alternates between events that are handed over and events of other programs.
	 */
	private static void deliverToTheOther(Shop shop, int count) {
		OtherPublisher other = shop.bean(OtherPublisher.class);
		IntStream.range(0, count).forEach((i) -> {
			int sent = other.types().size();
			if (i % 2 == 0) {
				shop.appendTo(OtherPublisher.TOPIC, "handed-over");
			}
			else {
				shop.database()
					.sql("insert into relay_event (event_id, topic, type, payload) values (gen_random_uuid(), ?, "
							+ "'foreign', '')")
					.param(OtherPublisher.TOPIC)
					.update();
			}
			await().untilAsserted(() -> assertThat(other.types()).hasSize(sent + 1));
		});
	}

	private static long rowsRead(Shop shop) {
		return Objects.requireNonNull(shop.database()
			.sql("select seq_tup_read + coalesce((select sum(idx_tup_read) from pg_stat_user_indexes i "
					+ "where i.relid = t.relid), 0) from pg_stat_user_tables t where relname = 'relay_event'")
			.query(Long.class)
			.single());
	}

}
