package dev.idempotent.outbox.relay;

import java.util.concurrent.CountDownLatch;

import dev.idempotent.outbox.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of ordered events that a claim does not get.
 */
abstract class OrderGapRules extends OutageRules {

	@Test
	void deliversAllKeysWhoseEventsExceedTheMemoryOfABatch() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.batch-memory=10B",
				"idempotent.outbox.relay.queue-memory=1B", "idempotent.outbox.relay.workers=1");
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
	void releasesEventsBehindALockedOne() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h");
		CountDownLatch open = appendAroundAnEventWithoutALease(shop);
		shop.inTransaction((status) -> {
			shop.database().sql("select id from relay_ordered where type = '2' for update").query().listOfRows();
			open.countDown();
			await().until(() -> isReleased(shop, "3"));
		});
		shop.relay().wake();
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2", "3");
	}

	@Test
	void stopsAlthoughAnEventIsBehindOneWithoutALease() throws InterruptedException {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h", "idempotent.outbox.relay.drain-timeout=40s");
		CountDownLatch open = appendAroundAnEventWithoutALease(shop);
		Thread stop = new Thread(shop.relay()::stop);
		stop.start();
		await().until(() -> !((HandOffRegistry) shop.relay().handOffs()).isOpen());
		open.countDown();
		stop.join(30_000);
		assertThat(stop.isAlive()).isFalse();
		assertThat(shop.broker().types().size() + shop.ordered()).isEqualTo(3);
		assertThat(shop.ordered() == 0 || isReleased(shop, "3")).isTrue();
	}

	/**
	 * Appends an event whose publication blocks, and one behind an event of another
	 * program.
	 */
	private static CountDownLatch appendAroundAnEventWithoutALease(Shop shop) {
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

	private static boolean isReleased(Shop shop, String type) {
		return shop.database()
			.sql("select count(*) from relay_ordered where type = ? and claim_id is null")
			.param(type)
			.query(Integer.class)
			.single() == 1;
	}

}
