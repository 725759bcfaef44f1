package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery with instances that crash, stall or stop, and with several instances.
 */
abstract class InstanceRules extends RelayRules {

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
			awaitLatch(open);
			return new Outcome.Delivered();
		});
		slow.append("order.created");
		awaitLatch(taken);
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

}
