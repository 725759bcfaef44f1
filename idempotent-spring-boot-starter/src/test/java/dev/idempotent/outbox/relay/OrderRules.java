package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.Race;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of events that their keys order. Types are the numbers of events within their
 * key.
 */
abstract class OrderRules extends OrderGapRules {

	@Test
	void deliversTheEventsOfATransactionInOrder() {
		Shop shop = open(Shop.SELDOM);
		shop.appendOrdered("a", "1", "2", "3");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2", "3");
		assertThat(shop.broker().published()).extracting(SerializedEvent::attempts).containsOnly(1);
	}

	@Test
	void holdsBackOnlyTheKeyOfAFailedEvent() {
		Shop shop = open(Shop.OFTEN);
		AtomicInteger failures = new AtomicInteger(3);
		List<SerializedEvent> tried = new CopyOnWriteArrayList<>();
		shop.broker().answer((event) -> {
			tried.add(event);
			boolean fails = "a".equals(event.key()) && event.type().equals("1") && failures.getAndDecrement() > 0;
			return fails ? new Outcome.Retry("not yet", null) : new Outcome.Delivered();
		});
		shop.appendOrdered("a", "1", "2", "3");
		shop.appendOrdered("b", "1", "2", "3");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(tried.stream().filter((event) -> "a".equals(event.key())).map(SerializedEvent::type))
			.containsExactly("1", "1", "1", "1", "2", "3");
		assertThat(typesOf(shop, "b")).containsExactly("1", "2", "3");
	}

	@Test
	void skipsADeadEvent() {
		Shop shop = open(Shop.OFTEN);
		shop.broker().answer((event) -> event.type().equals("1") ? new Outcome.Reject("bad") : new Outcome.Delivered());
		shop.appendOrdered("a", "1", "2", "3");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("2", "3");
		assertThat(shop.dead()).containsExactly("1");
	}

	@Test
	void storesAnOutcomeOnceTheDatabaseIsBack() {
		Shop shop = keep(Shop.open(database(), Shop.OFTEN, FailingOutcomes.class));
		FailingOutcomes failing = shop.bean(FailingOutcomes.class);
		shop.broker()
			.answer((event) -> event.type().equals("1") && event.attempts() == 1 ? new Outcome.Retry("not yet", null)
					: new Outcome.Delivered());
		shop.appendOrdered("a", "1", "2", "3");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2", "3");
		assertThat(failing.failures()).isEqualTo(FailingOutcomes.MAX);
	}

	@Test
	void blocksTheKeyOfADeadEvent() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.on-dead=block");
		shop.broker().answer((event) -> "a".equals(event.key()) ? new Outcome.Reject("bad") : new Outcome.Delivered());
		shop.appendOrdered("a", "1", "2");
		shop.appendOrdered("b", "1", "2");
		await().untilAsserted(() -> assertThat(typesOf(shop, "b")).containsExactly("1", "2"));
		shop.appendOrdered("a", "3");
		await().untilAsserted(() -> assertThat(shop.ordered()).isEqualTo(3));
		assertThat(typesOf(shop, "a")).isEmpty();
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void deliversTheEventsOfADeadInstanceInOrder() {
		Shop shop = open(Shop.OFTEN);
		shop.leaveBehindOrdered("a", "1", "2", "3");
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2", "3");
		assertThat(shop.broker().published()).extracting(SerializedEvent::attempts).containsOnly(2);
	}

	@Test
	void keepsTheOrderDuringAnOutage() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=1");
		shop.broker().answer((event) -> new Outcome.Unavailable("away"));
		shop.appendOrdered("a", "1", "2");
		await().untilAsserted(() -> assertThat(shop.relay().unavailablePublishers()).containsExactly("test"));
		shop.appendOrdered("a", "3");
		shop.appendOrdered("b", "1", "2");
		shop.broker().answer((event) -> new Outcome.Delivered());
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(typesOf(shop, "a")).containsExactly("1", "2", "3");
		assertThat(typesOf(shop, "b")).containsExactly("1", "2");
		assertThat(shop.broker().published()).extracting(SerializedEvent::attempts).containsOnly(1);
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
	}

	@Test
	void deliversTheEventsOfManyInstancesInTheOrderOfTheirLocks() throws InterruptedException {
		List<SerializedEvent> published = Collections.synchronizedList(new ArrayList<>());
		List<Shop> instances = IntStream.range(0, 3).mapToObj((i) -> open(Shop.OFTEN)).toList();
		instances.forEach((shop) -> shop.broker().answer((event) -> {
			published.add(event);
			return new Outcome.Delivered();
		}));
		List<String> keys = List.of("a", "b", "c", "d");
		Shop first = instances.get(0);
		keys.forEach(first::createCounter);
		int each = 40;
		Race.of(6, (racer) -> {
			for (int i = 0; i < each; i++) {
				instances.get(racer % 3).appendNext(keys.get((racer + i) % keys.size()));
			}
			return racer;
		});
		await().untilAsserted(() -> assertThat(first.ordered()).isZero());
		Map<String, List<Integer>> firstOccurrences = new HashMap<>();
		published.stream().forEach((event) -> {
			List<Integer> seen = firstOccurrences.computeIfAbsent(String.valueOf(event.key()),
					(key) -> new ArrayList<>());
			int number = Integer.parseInt(event.type());
			if (!seen.contains(number)) {
				seen.add(number);
			}
		});
		assertThat(firstOccurrences.keySet()).containsExactlyInAnyOrderElementsOf(keys);
		firstOccurrences.values()
			.forEach((numbers) -> assertThat(numbers)
				.containsExactlyElementsOf(IntStream.rangeClosed(1, 6 * each / keys.size()).boxed().toList()));
	}

	@Test
	void deliversManyEventsOfAKey() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.lease=1h");
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			awaitLatch(open);
			return new Outcome.Delivered();
		});
		for (int i = 1; i <= 100; i++) {
			shop.appendOrdered("a", Integer.toString(i));
		}
		open.countDown();
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types())
			.containsExactlyElementsOf(IntStream.rangeClosed(1, 100).mapToObj(Integer::toString).toList());
	}

	@Test
	void deliversCommittedOrderedEventsWhenItStops() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.workers=1", "idempotent.outbox.relay.drain-timeout=1m");
		awaitFirstPass(shop);
		for (int i = 1; i <= 30; i++) {
			shop.appendOrdered("a", Integer.toString(i));
		}
		shop.relay().stop();
		int delivered = shop.broker().published().size();
		assertThat(shop.broker().types())
			.containsExactlyElementsOf(IntStream.rangeClosed(1, delivered).mapToObj(Integer::toString).toList());
		assertThat(delivered).isEqualTo(30);
		assertThat(shop.ordered()).isZero();
	}

	@Test
	void deliversNothingOfARolledBackSavepoint() {
		Shop shop = open(Shop.SELDOM);
		shop.inTransaction((status) -> {
			shop.appendOrderedWithin("a", "1");
			Object savepoint = status.createSavepoint();
			shop.appendOrderedWithin("a", "lost");
			status.rollbackToSavepoint(savepoint);
			shop.appendOrderedWithin("a", "2");
		});
		await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		assertThat(shop.broker().types()).containsExactly("1", "2");
	}

	private static List<String> typesOf(Shop shop, String key) {
		return shop.broker()
			.published()
			.stream()
			.filter((event) -> key.equals(event.key()))
			.map(SerializedEvent::type)
			.toList();
	}

}
