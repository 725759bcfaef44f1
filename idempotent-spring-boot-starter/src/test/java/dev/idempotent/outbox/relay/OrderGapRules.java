package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.jdbc.LaneHash;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of ordered events that exceed a batch, or are behind one that cannot be
 * claimed.
 */
abstract class OrderGapRules extends OutageRules {

	private static final TransactionDefinition REQUIRES_NEW = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	@Test
	void deliversAllKeysWhoseEventsExceedTheMemoryOfABatch() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.batch-memory=10B", "idempotent.outbox.relay.workers=1");
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			awaitLatch(open);
			return new Outcome.Delivered();
		});
		for (int i = 0; i < 20; i++) {
			shop.appendOrdered("key-" + i, "1", "2");
		}
		open.countDown();
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().published()).hasSize(40);
	}

	@Test
	void sendsTheEventsOfAKeyAtOnceIfThePublisherKeepsTheirOrder() {
		Shop shop = keep(Shop.open(database(), Shop.SELDOM, OrderedPublisher.class,
				"idempotent.outbox.relay.enabled=false", "idempotent.outbox.default-topic=" + OrderedPublisher.TOPIC));
		String[] types = numbers(250);
		shop.appendOrdered("a", types);
		shop.relay().start();
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		shop.relay().stop();
		assertThat(shop.bean(OrderedPublisher.class).types).containsExactly(types);
		assertThat(shop.bean(OrderedPublisher.class).batches).containsExactly(100, 100, 50);
	}

	@Test
	void continuesBehindAnEventAtWhichThePublisherStopped() {
		Shop shop = keep(Shop.open(database(), Shop.OFTEN, OrderedPublisher.class,
				"idempotent.outbox.default-topic=" + OrderedPublisher.TOPIC));
		String[] types = numbers(30);
		types[7] = "refused";
		types[20] = "refused too";
		shop.appendOrdered("a", types);
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.bean(OrderedPublisher.class).types).containsExactly(types);
	}

	/**
	 * The first row of a key commits after a later row of another key of its lane has
	 * been delivered, and no instance learns of it.
	 */
	@Test
	void doesNotOvertakeAnEarlierEventOfAnotherKeyOfItsLane() {
		Shop shop = open(Shop.SELDOM);
		shop.inTransaction((status) -> {
			insertIntoLaneOfOther(shop, "1");
			new TransactionTemplate(shop.manager(), REQUIRES_NEW)
				.executeWithoutResult((inner) -> shop.appendOrderedWithin("other", "other"));
			await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("other"));
		});
		Row second = insertIntoLaneOfOther(shop, "2");
		shop.relay().committed(List.of(second));
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("other", "1", "2"));
	}

	private static Row insertIntoLaneOfOther(Shop shop, String type) {
		long lane = LaneHash.of(RecordingPublisher.TOPIC, "other");
		shop.database()
			.sql("insert into relay_event (lane, event_id, topic, event_key, type, payload, headers) "
					+ "values (?, ?, ?, 'one', ?, ?, '{}')")
			.params(lane, UUID.randomUUID(), RecordingPublisher.TOPIC, type, new byte[] { 1 })
			.update();
		long id = shop.database()
			.sql("select id from relay_event where event_key = 'one' and type = ?")
			.param(type)
			.query(Long.class)
			.single();
		return new Row(lane, id, RecordingPublisher.TOPIC);
	}

	private static String[] numbers(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).toArray(String[]::new);
	}

	@Test
	void deliversNothingBehindALockedEvent() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h");
		CountDownLatch open = appendAroundAnEventOfADeadInstance(shop);
		shop.inTransaction((status) -> {
			shop.database().sql("select id from relay_event where type = '2' for update").query().listOfRows();
			open.countDown();
			await().until(() -> shop.ordered() == 2);
			shop.relay().wake();
			assertThat(shop.broker().types()).containsExactly("1");
		});
		shop.relay().wake();
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2", "3");
	}

	@Test
	void stopsAlthoughAnEventIsBehindOneOfADeadInstance() throws InterruptedException {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h", "idempotent.outbox.relay.drain-timeout=5m");
		CountDownLatch open = appendAroundAnEventOfADeadInstance(shop);
		Thread stop = new Thread(shop.relay()::stop);
		stop.start();
		await().until(() -> !shop.relay().isRunning());
		open.countDown();
		stop.join(60_000);
		assertThat(stop.isAlive()).isFalse();
		assertThat(shop.broker().types().size() + shop.ordered()).isEqualTo(3);
		assertThat(shop.database()
			.sql("select count(*) from relay_event where type <> '2' and due_at is not null")
			.query(Integer.class)
			.single()).isZero();
	}

	/**
	 * Appends an event whose publication blocks, and one behind an event of a dead
	 * instance.
	 */
	private static CountDownLatch appendAroundAnEventOfADeadInstance(Shop shop) {
		CountDownLatch taken = new CountDownLatch(1);
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			taken.countDown();
			awaitLatch(open);
			return new Outcome.Delivered();
		});
		shop.appendOrdered("a", "1");
		awaitLatch(taken);
		shop.leaveBehindOrdered("a", "2");
		shop.appendOrdered("a", "3");
		return open;
	}

}
