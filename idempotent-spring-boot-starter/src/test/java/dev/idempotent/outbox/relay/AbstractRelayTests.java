package dev.idempotent.outbox.relay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.jdbc.LaneHash;
import dev.idempotent.testing.ConcurrentRuns;
import dev.idempotent.testing.Patience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the relay promises on each database: delivery of committed events at their time,
 * with instances that crash, stall or stop, while destinations, publishers or events
 * fail, and in the order of their keys. The types of ordered events are their numbers
 * within their key.
 */
abstract class AbstractRelayTests {

	private static final String AWAY = "test:away";

	private static final String THERE = "test:there";

	private static final TransactionDefinition REQUIRES_NEW = new DefaultTransactionDefinition(
			TransactionDefinition.PROPAGATION_REQUIRES_NEW);

	private final List<Shop> shops = new ArrayList<>();

	@AfterEach
	void close() {
		this.shops.get(0).forgetAll();
		this.shops.forEach(Shop::close);
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
			Patience.await(open);
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
				Patience.await(open);
			}
			return new Outcome.Delivered();
		});
		shop.append("slow");
		Patience.await(begun);
		shop.append("quick");
		try {
			await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("quick"));
		}
		finally {
			open.countDown();
		}
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
	}

	@Test
	void deliversAnEventNotBeforeItsTime() {
		Shop shop = open(Shop.OFTEN);
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

	@Test
	void keepsDelayedEventsApartFromPendingOnes() {
		Shop shop = open(Shop.OFTEN);
		Instant later = Instant.now().plusSeconds(3600);
		append(shop, OutboxEvent.of("first", 1).withKey("k").unordered().availableAt(later), OutboxEvent.of("now", 1),
				OutboxEvent.of("second", 1).availableAt(later));
		assertThat(shop.database().sql("select type from relay_delayed order by id").query(String.class).list())
			.containsExactly("first", "second");
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		assertThat(shop.broker().types()).containsExactly("now");
	}

	@Test
	void deliversAnEventWhoseTimeHasPassedAtOnce() {
		Shop shop = open(Shop.SELDOM);
		append(shop, OutboxEvent.of("late", 1).availableAt(Instant.now().minusSeconds(1)),
				OutboxEvent.of("very late", 1).availableAt(Instant.MIN));
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder("late", "very late"));
		await().untilAsserted(() -> assertThat(shop.pending() + shop.delayed()).isZero());
	}

	@Test
	void deliversEventsOfADeadInstance() {
		Shop shop = open(Shop.OFTEN);
		shop.leaveBehind("order.created", 1);
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("order.created"));
		assertThat(shop.broker().published().get(0).attempts()).isEqualTo(2);
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
	}

	@Test
	void findsEventsThatCommitBehindDeliveredOnes() {
		Shop other = open(Shop.SELDOM, "idempotent.outbox.relay.enabled=false");
		Shop shop = open(Shop.OFTEN);
		other.inTransaction((status) -> {
			other.leaveBehind("early", 0);
			shop.leaveBehind("late", 0);
			await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("late"));
		});
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("late", "early"));
	}

	@Test
	void givesUpAnEventWhoseAttemptsNeverFinish() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.attempts=4");
		shop.leaveBehind("deadly", 4);
		await().untilAsserted(() -> assertThat(shop.dead()).containsExactly("deadly"));
		assertThat(shop.broker().published()).isEmpty();
	}

	@Test
	void publishesEventsWithUnfinishedAttemptsAlone() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.batch-size=16", "idempotent.outbox.relay.enabled=false");
		IntStream.range(0, 10).forEach((i) -> shop.leaveBehind("suspect-" + i, 4));
		List<Integer> sizes = new CopyOnWriteArrayList<>();
		shop.broker().watchBatches(sizes::add);
		shop.relay().start();
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		shop.relay().stop();
		assertThat(sizes).hasSize(10).containsOnly(1);
		assertThat(shop.broker().published()).extracting(SerializedEvent::attempts).containsOnly(5);
	}

	@Test
	void deliversTheSameEventTwiceWhenItsLeaseEndsDuringPublication() {
		Shop slow = open(Shop.SELDOM, "idempotent.outbox.relay.lease=300ms");
		CountDownLatch taken = new CountDownLatch(1);
		CountDownLatch open = new CountDownLatch(1);
		slow.broker().answer((event) -> {
			taken.countDown();
			Patience.await(open);
			return new Outcome.Delivered();
		});
		slow.append("order.created");
		Patience.await(taken);
		Shop other = open(Shop.OFTEN);
		await().untilAsserted(() -> assertThat(other.broker().types()).containsExactly("order.created"));
		await().untilAsserted(() -> assertThat(other.pending()).isZero());
		open.countDown();
		await().untilAsserted(() -> assertThat(slow.lost()).isOne());
		assertThat(slow.broker().published().get(0).id()).isEqualTo(other.broker().published().get(0).id());
	}

	@Test
	void sharesABacklogAmongInstances() {
		Shop one = open(Shop.OFTEN, "idempotent.outbox.relay.enabled=false", "idempotent.outbox.relay.batch-size=50");
		IntStream.range(0, 40)
			.forEach((i) -> one.append(IntStream.range(0, 50).mapToObj((n) -> "e").toArray(String[]::new)));
		Shop other = open(Shop.OFTEN, "idempotent.outbox.relay.enabled=false", "idempotent.outbox.relay.batch-size=50");
		one.relay().start();
		other.relay().start();
		await().untilAsserted(() -> assertThat(one.pending()).isZero());
		one.relay().stop();
		other.relay().stop();
		assertThat(Stream.of(one, other).flatMap((shop) -> shop.broker().published().stream()))
			.extracting(SerializedEvent::id)
			.hasSize(2000)
			.doesNotHaveDuplicates();
	}

	@Test
	void deliversCommittedEventsWhenItStops() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.workers=1", "idempotent.outbox.relay.batch-size=1",
				"idempotent.outbox.relay.drain-timeout=1m");
		awaitFirstPass(shop);
		IntStream.range(0, 50).forEach((i) -> shop.append("order-" + i));
		shop.relay().stop();
		int delivered = shop.broker().published().size();
		assertThat(shop.pending()).isZero();
		assertThat(delivered).isEqualTo(50);
		shop.append("after the stop");
		assertThat(shop.broker().published()).hasSize(delivered);
	}

	@Test
	void deliversNothingIfTheRelayIsDisabled() {
		Shop shop = open(Shop.OFTEN, "idempotent.outbox.relay.enabled=false");
		shop.append("order.created");
		assertThat(shop.relay().isRunning()).isFalse();
		assertThat(shop.pending()).isOne();
	}

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
			Patience.await(slow);
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

	@Test
	void deliversAllKeysWhoseEventsExceedTheMemoryOfABatch() {
		Shop shop = open(Shop.SELDOM, "idempotent.outbox.relay.batch-memory=10B", "idempotent.outbox.relay.workers=1");
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			Patience.await(open);
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
		ConcurrentRuns.of(6, (racer) -> {
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
			Patience.await(open);
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

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	Shop open(String[] relay, String... more) {
		return keep(Shop.open(database(), relay, more));
	}

	Shop keep(Shop shop) {
		this.shops.add(shop);
		return shop;
	}

	/**
	 * A relay delivers nothing, not even when it stops, before it knows the paused
	 * topics.
	 */
	static void awaitFirstPass(Shop shop) {
		await().until(() -> shop.relay().lastPass().isPresent());
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

	private Shop openWithTwo(String[] relay, String... more) {
		return keep(Shop.open(database(), relay, OtherPublisher.class, more));
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

	/**
	 * Appends an event whose publication blocks, and one behind an event of a dead
	 * instance.
	 */
	private static CountDownLatch appendAroundAnEventOfADeadInstance(Shop shop) {
		CountDownLatch taken = new CountDownLatch(1);
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			taken.countDown();
			Patience.await(open);
			return new Outcome.Delivered();
		});
		shop.appendOrdered("a", "1");
		Patience.await(taken);
		shop.leaveBehindOrdered("a", "2");
		shop.appendOrdered("a", "3");
		return open;
	}

	private static List<String> typesOf(Shop shop, String key) {
		return shop.broker()
			.published()
			.stream()
			.filter((event) -> key.equals(event.key()))
			.map(SerializedEvent::type)
			.toList();
	}

	private static void append(Shop shop, OutboxEvent... events) {
		shop.inTransaction((status) -> shop.bean(Outbox.class).append(List.of(events)));
	}

	/**
	 * A publisher that stops at the first event of a key that is refused: one whose type
	 * begins with {@code refused}, at its first attempt.
	 */
	static final class OrderedPublisher implements OutboxPublisher {

		static final String TOPIC = "ordered:orders";

		final List<String> types = new CopyOnWriteArrayList<>();

		final List<Integer> batches = new CopyOnWriteArrayList<>();

		@Override
		public String prefix() {
			return "ordered";
		}

		@Override
		public boolean keepsOrder() {
			return true;
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			this.batches.add(events.size());
			Set<@Nullable String> stopped = new HashSet<>();
			List<Outcome> outcomes = new ArrayList<>();
			for (SerializedEvent event : events) {
				if (event.type().startsWith("refused") && event.attempts() == 1) {
					stopped.add(event.key());
				}
				if (stopped.contains(event.key())) {
					outcomes.add(new Outcome.Retry("Refused", null));
				}
				else {
					this.types.add(event.type());
					outcomes.add(new Outcome.Delivered());
				}
			}
			return outcomes;
		}

	}

	/**
	 * A publisher of another broker, which is never slow.
	 */
	static final class OtherPublisher implements OutboxPublisher {

		static final String TOPIC = "other:orders";

		private final List<String> types = new CopyOnWriteArrayList<>();

		@Override
		public String prefix() {
			return "other";
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			events.forEach((event) -> this.types.add(event.type()));
			return events.stream().<Outcome>map((event) -> new Outcome.Delivered()).toList();
		}

		List<String> types() {
			return this.types;
		}

	}

	/**
	 * Makes the first statements that store a failed attempt fail before they reach the
	 * database.
	 */
	static final class FailingOutcomes implements BeanPostProcessor {

		static final int MAX = 2;

		private final AtomicInteger outcomes = new AtomicInteger();

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real) ? new Failing(real) : bean;
		}

		/**
		 * How many outcomes were not stored.
		 */
		int failures() {
			return Math.min(this.outcomes.get(), MAX);
		}

		private final class Failing extends DelegatingDataSource {

			Failing(DataSource real) {
				super(real);
			}

			@Override
			public Connection getConnection() throws SQLException {
				Connection real = super.getConnection();
				return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							if (method.getName().equals("prepareStatement")
									&& String.valueOf(arguments[0]).contains("last_error = ?")
									&& FailingOutcomes.this.outcomes.incrementAndGet() <= MAX) {
								throw new SQLTransientConnectionException("of the test");
							}
							try {
								return method.invoke(real, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getTargetException();
							}
						});
			}

		}

	}

}
