package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery while other destinations, publishers or events fail.
 */
abstract class OutageRules extends InstanceRules {

	private static final String AWAY = "test:away";

	private static final String THERE = "test:there";

	@ParameterizedTest
	@EnumSource
	void deliversToAvailableDestinationsWhileAnotherIsUnavailable(Scope scope) {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=1");
		shop.broker()
			.answer((event) -> event.topic().equals(AWAY) ? new Outcome.Unavailable("away", scope)
					: new Outcome.Delivered());
		IntStream.range(0, 30).forEach((i) -> shop.appendTo(AWAY, "kept"));
		String[] types = IntStream.range(0, 20).mapToObj((i) -> "type-" + i).toArray(String[]::new);
		for (String type : types) {
			shop.appendTo(THERE, type);
		}
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder(types));
		await().untilAsserted(() -> assertThat(shop.pending()).isEqualTo(30));
		await().untilAsserted(() -> assertThat(shop.relay().unavailableDestinations()).containsExactly(AWAY));
		shop.broker().answer((event) -> new Outcome.Delivered());
		await().untilAsserted(() -> assertThat(shop.broker().types()).hasSize(50));
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().published()).extracting(SerializedEvent::attempts).containsOnly(1);
		assertThat(shop.relay().unavailableDestinations()).isEmpty();
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
	}

	@Test
	void deliversPastAnEventThatAlwaysTimesOutAndGivesItUp() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=2");
		timeOutAt(shop, Set.of("huge", "enormous"));
		shop.append("huge", "enormous");
		String[] types = IntStream.range(0, 30).mapToObj((i) -> "type-" + i).toArray(String[]::new);
		for (String type : types) {
			shop.append(type);
		}
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder(types));
		shop.append("evidence");
		await().pollDelay(Duration.ofMillis(100)).untilAsserted(() -> {
			shop.append("evidence");
			assertThat(shop.dead()).containsExactlyInAnyOrder("huge", "enormous");
		});
	}

	/**
	 * As in a pipeline, the events behind one that times out get no reply either.
	 */
	private static void timeOutAt(Shop shop, Set<String> types) {
		ThreadLocal<Boolean> silent = ThreadLocal.withInitial(() -> false);
		shop.broker().watchBatches((size) -> silent.set(false));
		shop.broker().answer((event) -> {
			silent.set(silent.get() || types.contains(event.type()));
			return silent.get() ? new Outcome.Unavailable("No reply in time") : new Outcome.Delivered();
		});
	}

	/**
	 * Too many destinations: the publisher counts as unavailable.
	 */
	@Test
	void recoversEvenIfOneOfManyDestinationsStaysUnavailable() {
		Shop shop = open(Shop.OFTEN);
		Set<String> away = ConcurrentHashMap.newKeySet();
		List<String> many = IntStream.range(0, CircuitBreakers.MAX_DESTINATIONS).mapToObj((i) -> AWAY + i).toList();
		away.addAll(many);
		away.add(AWAY);
		shop.broker()
			.answer((event) -> away.contains(event.topic()) ? new Outcome.Unavailable("away", Scope.DESTINATION)
					: new Outcome.Delivered());
		many.forEach((topic) -> shop.appendTo(topic, "late"));
		await().until(() -> shop.relay().unavailableDestinations().size() == many.size());
		IntStream.range(0, 300).forEach((i) -> shop.appendTo(AWAY, "kept"));
		await().until(() -> !shop.relay().unavailablePublishers().isEmpty());
		away.removeAll(many);
		shop.appendTo(THERE, "new");
		await().untilAsserted(() -> assertThat(shop.broker().types()).hasSize(many.size() + 1).contains("new"));
		await().untilAsserted(() -> assertThat(shop.pending()).isEqualTo(300));
	}

	@Test
	void deliversWithOnePublisherWhileAnotherIsSlow() {
		Shop shop = openWithTwo(Shop.OFTEN);
		CountDownLatch slow = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			awaitLatch(slow);
			return new Outcome.Delivered();
		});
		IntStream.range(0, 10).forEach((i) -> shop.append("slow"));
		IntStream.range(0, 10).forEach((i) -> shop.appendTo(OtherPublisher.TOPIC, "fast"));
		await().untilAsserted(() -> assertThat(shop.bean(OtherPublisher.class).types()).hasSize(10));
		assertThat(shop.broker().types()).isEmpty();
		slow.countDown();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).hasSize(10);
	}

	@Test
	void limitsThePayloadOfAPublishedBatch() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.enabled=false",
				"idempotent.outbox.relay.batch-memory=100B");
		IntStream.range(0, 50).forEach((i) -> shop.append("twenty-bytes-" + i));
		List<Integer> sizes = new CopyOnWriteArrayList<>();
		shop.broker().watchBatches(sizes::add);
		shop.relay().start();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		shop.relay().stop();
		assertThat(sizes).hasSizeGreaterThanOrEqualTo(10).allMatch((size) -> size <= 5);
		assertThat(shop.broker().types()).hasSize(50).doesNotHaveDuplicates();
	}

	@Test
	void deliversTheRestOfABatchThatExceedsTheMemory() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=2");
		shop.broker().answer((event) -> {
			if (event.type().equals("huge")) {
				throw new OutOfMemoryError("of the test");
			}
			return new Outcome.Delivered();
		});
		shop.append("one", "huge", "two");
		await().untilAsserted(() -> assertThat(shop.dead()).containsExactly("huge"));
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).contains("one", "two").doesNotContain("huge");
	}

	@Test
	void continuesAfterAPublisherInterruptsItsThread() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.workers=1");
		shop.broker().answer((event) -> {
			Thread.currentThread().interrupt();
			return new Outcome.Delivered();
		});
		for (String type : List.of("one", "two", "three")) {
			shop.append(type);
			await().untilAsserted(() -> assertThat(shop.broker().types()).contains(type));
		}
	}

	private Shop openWithTwo(String[] relay, String... more) {
		return keep(Shop.open(database(), relay, OtherPublisher.class, more));
	}

}
