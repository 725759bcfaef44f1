package dev.idempotent.outbox.relay;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.Outcome;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of events that are appended for later.
 */
abstract class DelayRules {

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	@Test
	void deliversAnEventNotBeforeItsTime() {
		try (Shop shop = Shop.open(database(), Shop.OFTEN)) {
			List<Instant> deliveries = new CopyOnWriteArrayList<>();
			shop.broker().answer((event) -> {
				deliveries.add(Instant.now());
				return new Outcome.Delivered();
			});
			Instant time = Instant.now().plusMillis(700);
			append(shop, OutboxEvent.of("reminder", 1).availableAt(time));
			await().untilAsserted(() -> assertThat(deliveries).hasSize(1));
			assertThat(deliveries.get(0)).isAfterOrEqualTo(time);
			assertThat(shop.broker().published().get(0).attempts()).isOne();
			await().untilAsserted(() -> assertThat(shop.pending() + shop.delayed()).isZero());
		}
	}

	@Test
	void keepsDelayedEventsApartFromPendingOnes() {
		try (Shop shop = Shop.open(database(), Shop.OFTEN)) {
			Instant later = Instant.now().plusSeconds(3600);
			append(shop, OutboxEvent.of("first", 1).withKey("k").unordered().availableAt(later),
					OutboxEvent.of("now", 1), OutboxEvent.of("second", 1).availableAt(later));
			assertThat(shop.database().sql("select type from relay_delayed order by id").query(String.class).list())
				.containsExactly("first", "second");
			await().untilAsserted(() -> assertThat(shop.pending()).isZero());
			assertThat(shop.broker().types()).containsExactly("now");
			shop.forgetAll();
		}
	}

	@Test
	void deliversAnEventWhoseTimeHasPassedAtOnce() {
		try (Shop shop = Shop.open(database(), Shop.SELDOM)) {
			append(shop, OutboxEvent.of("late", 1).availableAt(Instant.now().minusSeconds(1)),
					OutboxEvent.of("very late", 1).availableAt(Instant.MIN));
			await()
				.untilAsserted(() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder("late", "very late"));
			await().untilAsserted(() -> assertThat(shop.pending() + shop.delayed()).isZero());
		}
	}

	private static void append(Shop shop, OutboxEvent... events) {
		shop.inTransaction((status) -> shop.bean(Outbox.class).append(List.of(events)));
	}

}
