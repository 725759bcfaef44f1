package dev.idempotent.outbox.relay;

import java.util.concurrent.CountDownLatch;

import dev.idempotent.outbox.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of ordered events that exceed a batch, or are behind one that cannot be
 * claimed.
 */
abstract class OrderGapRules extends OutageRules {

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
	void deliversNothingBehindALockedEvent() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h");
		CountDownLatch open = appendAroundAnEventOfADeadInstance(shop);
		shop.inTransaction((status) -> {
			shop.database().sql("select id from relay_event where type = '2' for update").query().listOfRows();
			open.countDown();
			await().until(() -> shop.ordered() == 2);
			shop.relay().wake();
		});
		assertThat(shop.broker().types()).containsExactly("1");
		shop.relay().wake();
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2", "3");
	}

	@Test
	void stopsAlthoughAnEventIsBehindOneOfADeadInstance() throws InterruptedException {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h", "idempotent.outbox.relay.drain-timeout=40s");
		CountDownLatch open = appendAroundAnEventOfADeadInstance(shop);
		Thread stop = new Thread(shop.relay()::stop);
		stop.start();
		await().until(() -> !shop.relay().isRunning());
		open.countDown();
		stop.join(30_000);
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
