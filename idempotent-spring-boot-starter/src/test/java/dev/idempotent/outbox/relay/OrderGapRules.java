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

}
