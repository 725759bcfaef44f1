package dev.idempotent.outbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.LaneHash;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What rows cost that are not to be delivered: deleted ones that a snapshot keeps, and
 * rows of a paused topic. Counts the pages and rows that PostgreSQL has read.
 */
class DeletedAndPausedRowsIntegrationTests {

	private static final int ROWS = 20_000;

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private Shop shop;

	private void open(String... relay) {
		this.shop = Shop.open(postgres.properties(), relay);
	}

	@AfterEach
	void close() {
		this.shop.bean(TopicControl.class).resume(RecordingPublisher.TOPIC);
		this.shop.forgetAll();
		this.shop.close();
	}

	@Test
	void theSearchForTheNextRowOfAKeyDoesNotReadItsDeletedRows() throws SQLException {
		open(Shop.SELDOM);
		long lane = LaneHash.of(RecordingPublisher.TOPIC, "hot");
		try (Connection snapshot = this.shop.bean(DataSource.class).getConnection();
				Statement statement = snapshot.createStatement()) {
			snapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			snapshot.setAutoCommit(false);
			statement.execute("select 1 from relay_event");
			this.shop.relay().stop();
			insert(lane + ", 'hot', gen_random_uuid(), '" + RecordingPublisher.TOPIC + "', 'old', '', null");
			this.shop.database().sql("delete from relay_event").update();
			this.shop.relay().start();
			long before = pagesRead();
			for (int events = 1; events <= 50; events++) {
				this.shop.appendOrdered("hot", "new");
				awaitDelivered(events);
			}
			// Sessions report late what they have read: the insertions are included.
			assertThat(pagesRead() - before).isLessThan(15L * ROWS);
		}
	}

	@Test
	void theEventsOfAPausedTopicAreNotReadAgainAndAgain() {
		open("idempotent.outbox.relay.scan-interval=50ms");
		this.shop.bean(TopicControl.class).pause(RecordingPublisher.TOPIC);
		this.shop.relay().refreshPausedTopics();
		insert("((hashtext(n::text)::bigint & 1048575) | " + LaneHash.of(RecordingPublisher.TOPIC, null)
				+ "), null, gen_random_uuid(), '" + RecordingPublisher.TOPIC + "', 'paused', '', now()");
		long rows = rowsRead();
		long searches = searches();
		await().until(() -> searches() >= searches + 10);
		assertThat(rowsRead() - rows).isLessThan(4L * ROWS);
	}

	private void awaitDelivered(int events) {
		await().until(() -> this.shop.broker().published().size() == events);
	}

	private long searches() {
		return read("coalesce(seq_scan, 0) + coalesce(idx_scan, 0)", "user");
	}

	private long rowsRead() {
		return read("coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)", "user");
	}

	private long pagesRead() {
		return read("idx_blks_hit + idx_blks_read + heap_blks_hit + heap_blks_read", "io");
	}

	private void insert(String values) {
		this.shop.database()
			.sql("insert into relay_event (lane, event_key, event_id, topic, type, payload, due_at) select " + values
					+ " from generate_series(1, " + ROWS + ") n")
			.update();
	}

	private long read(String columns, String kind) {
		String view = kind.equals("io") ? "pg_statio_user_tables" : "pg_stat_user_tables";
		this.shop.database().sql("select pg_stat_force_next_flush()").query((row, number) -> number).list();
		return this.shop.database()
			.sql("select " + columns + " from " + view + " where relname = 'relay_event'")
			.query(Long.class)
			.single();
	}

}
