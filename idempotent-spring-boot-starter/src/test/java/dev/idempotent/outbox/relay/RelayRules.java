package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery of committed events.
 */
abstract class RelayRules {

	private final List<Shop> shops = new ArrayList<>();

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	@AfterEach
	void close() {
		this.shops.get(0).forgetAll();
		this.shops.forEach(Shop::close);
	}

	Shop open(String[] relay, String... more) {
		return keep(Shop.open(database(), relay, more));
	}

	Shop keep(Shop shop) {
		this.shops.add(shop);
		return shop;
	}

	@Test
	void deliversAnEventOnlyAfterItsCommit() {
		Shop shop = open(Shop.SELDOM);
		shop.inTransaction((status) -> {
			shop.appendWithin("order.created");
			assertThat(shop.broker().published()).isEmpty();
		});
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		SerializedEvent event = shop.broker().published().get(0);
		assertThat(event.headers()).containsEntry("ce_id", event.id().toString())
			.containsEntry("ce_source", "/shop")
			.containsEntry("ce_type", "order.created")
			.containsEntry("content-type", "application/json")
			.containsKeys("ce_time", "ce_sequence");
		assertThat(event.payload()).asString().isEqualTo("\"payload of order.created\"");
		assertThat(event.attempts()).isOne();
		assertThat(shop.broker().published()).hasSize(1);
	}

	@Test
	void deliversNothingAfterARollback() {
		Shop shop = open(Shop.OFTEN);
		shop.inTransaction((status) -> {
			shop.appendWithin("lost");
			status.setRollbackOnly();
		});
		shop.append("kept");
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).containsExactly("kept");
	}

	@Test
	void retriesAFailedAttemptAsTheSameEvent() {
		Shop shop = open(Shop.OFTEN);
		List<SerializedEvent> tried = new CopyOnWriteArrayList<>();
		shop.broker().answer((event) -> {
			tried.add(event);
			return (tried.size() < 3) ? new Outcome.Retry("not yet", null) : new Outcome.Delivered();
		});
		shop.append("order.created");
		await().untilAsserted(() -> assertThat(shop.broker().published()).hasSize(1));
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(tried).extracting(SerializedEvent::attempts).containsExactly(1, 2, 3);
		assertThat(tried).extracting(SerializedEvent::id).containsOnly(tried.get(0).id());
		assertThat(tried).extracting((event) -> event.headers().get("ce_sequence"))
			.containsOnly(tried.get(0).headers().get("ce_sequence"));
	}

	/**
	 * An application need not check for null.
	 */
	@Test
	@SuppressWarnings("NullAway")
	void settlesABatchWithOutcomesThatCannotBeStored() {
		Shop shop = open(Shop.OFTEN);
		Set<String> tried = ConcurrentHashMap.newKeySet();
		Map<String, Outcome.Retry> first = Map.of("fine", new Outcome.Retry("not yet", null), "past",
				new Outcome.Retry("not yet", Duration.ofSeconds(Long.MIN_VALUE)), "silent",
				new Outcome.Retry(new IllegalStateException().getMessage(), null));
		shop.broker()
			.answer((event) -> event.type().equals("never")
					? new Outcome.Retry("never", Duration.ofSeconds(Long.MAX_VALUE))
					: tried.add(event.type()) ? first.get(event.type()) : new Outcome.Delivered());
		shop.append("never", "fine", "past", "silent", "missing");
		await().untilAsserted(
				() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder("fine", "past", "silent", "missing"));
		await().untilAsserted(() -> assertThat(shop.pending()).isOne());
		assertThat(shop.waiting()).isOne();
	}

	@Test
	void givesUpRejectedEventsAndThoseThatAlwaysFail() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=3");
		AtomicInteger tries = new AtomicInteger();
		shop.broker().answer((event) -> {
			if (event.type().equals("never")) {
				tries.incrementAndGet();
				return new Outcome.Retry("never", null);
			}
			return event.type().equals("cannot") ? new Outcome.Reject("cannot be") : new Outcome.Delivered();
		});
		shop.append("never", "cannot", "fine");
		await().untilAsserted(() -> assertThat(shop.dead()).containsExactlyInAnyOrder("never", "cannot"));
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(tries).hasValue(3);
		assertThat(shop.broker().types()).containsExactly("fine");
		assertThat(shop.database()
			.sql("select last_error from relay_dead where type = 'cannot'")
			.query(String.class)
			.single()).isEqualTo("cannot be");
	}

	@Test
	void deliversABatchExceptTheEventAtWhichThePublisherThrows() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=2");
		AtomicInteger calls = new AtomicInteger();
		shop.broker().answer((event) -> {
			calls.incrementAndGet();
			if (event.type().equals("type-37")) {
				throw new IllegalStateException("cannot be sent");
			}
			return new Outcome.Delivered();
		});
		String[] types = IntStream.range(0, 100).mapToObj((i) -> "type-" + i).toArray(String[]::new);
		shop.append(types);
		await().untilAsserted(() -> assertThat(shop.dead()).containsExactly("type-37"));
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).contains("type-0", "type-36", "type-38", "type-99").doesNotContain("type-37");
		assertThat(new HashSet<>(shop.broker().types())).hasSize(99);
	}

	@Test
	void keepsEventsOfAnUnavailablePublisherAndCountsNoAttempt() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=1");
		shop.broker().answer((event) -> new Outcome.Unavailable("away"));
		shop.append("first");
		await().untilAsserted(() -> assertThat(shop.relay().unavailablePublishers()).containsExactly("test"));
		shop.append("second", "third");
		assertThat(shop.broker().published()).isEmpty();
		assertThat(shop.dead()).isEmpty();
		shop.broker().answer((event) -> new Outcome.Delivered());
		await().untilAsserted(
				() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder("first", "second", "third"));
		assertThat(shop.broker().published()).extracting(SerializedEvent::attempts).containsOnly(1);
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
	}

	@Test
	void deliversEventsThatCommitWhileItPublishes() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.workers=1");
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			awaitLatch(open);
			return new Outcome.Delivered();
		});
		IntStream.range(0, 20).forEach((i) -> shop.append("order-" + i));
		open.countDown();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).hasSize(20).doesNotHaveDuplicates();
	}

	@Test
	void deliversBesideABatchThatTakesLong() {
		Shop shop = open(Shop.SELDOM);
		CountDownLatch open = new CountDownLatch(1);
		CountDownLatch begun = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			if (event.type().equals("slow")) {
				begun.countDown();
				awaitLatch(open);
			}
			return new Outcome.Delivered();
		});
		shop.append("slow");
		awaitLatch(begun);
		shop.append("quick");
		try {
			await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("quick"));
		}
		finally {
			open.countDown();
		}
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
	}

	/**
	 * A relay delivers nothing, not even when it stops, before it knows the paused
	 * topics.
	 */
	static void awaitFirstPass(Shop shop) {
		await().until(() -> shop.relay().lastPass().isPresent());
	}

	static void awaitLatch(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
