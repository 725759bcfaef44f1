package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.outbox.TestedDatabase;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.testing.Patience;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Delivery while topics are paused.
 */
@Tag("databases")
@ParameterizedClass(name = "{0}")
@MethodSource("dev.idempotent.outbox.TestedDatabase#postgresOrH2")
class PauseIntegrationTests {

	private static final String PAUSED = "test:paused";

	private static final String OTHER = "test:other";

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Parameter
	@SuppressWarnings("NullAway.Init")
	TestedDatabase database;

	private final List<Shop> shops = new ArrayList<>();

	@AfterEach
	void close() {
		this.shops.get(0).forgetAll();
		this.shops.get(0).database().sql("delete from relay_control").update();
		this.shops.forEach(Shop::close);
	}

	@Test
	void publishesNothingOfAPausedTopicOnAnyInstanceUntilItIsResumed() {
		Shop one = open();
		Shop two = open();
		assertThat(control(one).pause(PAUSED)).isTrue();
		awaitPaused(Set.of(PAUSED));
		for (int i = 0; i < 20; i++) {
			one.appendTo(PAUSED, "kept", "kept");
			two.appendTo(OTHER, "new", "new");
		}
		await().untilAsserted(() -> assertThat(published(OTHER)).hasSize(40));
		await().untilAsserted(() -> assertThat(one.pending()).isEqualTo(40));
		assertThat(published(PAUSED)).isEmpty();
		assertThat(one.database()
			.sql("select count(*) from relay_event where due_at is not null or attempts > 0")
			.query(Integer.class)
			.single()).isZero();
		assertThat(one.relay().unavailableDestinations()).isEmpty();
		control(two).resume(PAUSED);
		await().untilAsserted(() -> assertThat(one.pending()).isZero());
		assertThat(published(PAUSED)).hasSize(40).extracting(SerializedEvent::attempts).containsOnly(1);
		assertThat(published(PAUSED)).extracting(SerializedEvent::id).doesNotHaveDuplicates();
	}

	@Test
	void deliversOrderedEventsOfAResumedTopicInTheirOrder() {
		Shop one = open();
		Shop two = open();
		control(one).pause(RecordingPublisher.TOPIC);
		awaitPaused(Set.of(RecordingPublisher.TOPIC));
		IntStream.range(0, 10).forEach((i) -> ((i % 2 == 0) ? one : two).appendOrdered("k", "" + i));
		one.appendTo(OTHER, "new");
		await().untilAsserted(() -> assertThat(published(OTHER)).hasSize(1));
		assertThat(one.ordered()).isEqualTo(10);
		assertThat(published(RecordingPublisher.TOPIC)).isEmpty();
		control(two).resume(RecordingPublisher.TOPIC);
		await().untilAsserted(() -> assertThat(one.ordered()).isZero());
		List<SerializedEvent> delivered = new ArrayList<>(published(RecordingPublisher.TOPIC));
		assertThat(delivered).hasSize(10).extracting(SerializedEvent::attempts).containsOnly(1);
		assertThat(one.broker().types().stream().filter((type) -> !type.equals("new"))).isSorted();
		assertThat(two.broker().types().stream().filter((type) -> !type.equals("new"))).isSorted();
	}

	@Test
	void publishesNothingThatCommittedBeforeThePause() {
		Shop shop = open("idempotent.outbox.relay.workers=1");
		CountDownLatch taken = new CountDownLatch(1);
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			taken.countDown();
			Patience.await(open);
			return new Outcome.Delivered();
		});
		shop.appendTo(OTHER, "first");
		Patience.await(taken);
		IntStream.range(0, 10).forEach((i) -> shop.appendTo(PAUSED, "kept"));
		control(shop).pause(PAUSED);
		shop.relay().refreshPausedTopics();
		open.countDown();
		await().untilAsserted(() -> assertThat(unleased(shop)).isEqualTo(10));
		assertThat(published(PAUSED)).isEmpty();
	}

	@Test
	void learnsOfAPauseWhileItPublishesABacklog() {
		Shop shop = open();
		CountDownLatch taken = new CountDownLatch(1);
		CountDownLatch open = new CountDownLatch(1);
		shop.broker().answer((event) -> {
			if (event.type().equals("slow")) {
				taken.countDown();
				Patience.await(open);
			}
			return new Outcome.Delivered();
		});
		shop.leaveBehind("slow", 1);
		Patience.await(taken);
		control(shop).pause(PAUSED);
		awaitPaused(Set.of(PAUSED));
		shop.appendTo(PAUSED, "kept");
		open.countDown();
		await().untilAsserted(() -> assertThat(unleased(shop)).isOne());
		assertThat(published(PAUSED)).isEmpty();
	}

	@Test
	void keepsATopicPausedAfterARestart() {
		Shop before = open();
		control(before).pause(PAUSED);
		awaitPaused(Set.of(PAUSED));
		before.appendTo(PAUSED, "kept");
		before.relay().stop();
		Shop shop = open();
		shop.appendTo(PAUSED, "kept");
		shop.appendTo(OTHER, "new");
		await().untilAsserted(() -> assertThat(published(OTHER)).hasSize(1));
		await().untilAsserted(() -> assertThat(unleased(shop)).isEqualTo(2));
		assertThat(published(PAUSED)).isEmpty();
		control(shop).resume(PAUSED);
		await().untilAsserted(() -> assertThat(published(PAUSED)).hasSize(2));
	}

	@Test
	void publishesNothingBeforeItKnowsThePausedTopics() {
		Shop shop = Shop.open(this.database.properties(postgres, "pause"), Shop.OFTEN, UnreadableControl.class);
		this.shops.add(shop);
		UnreadableControl control = shop.bean(UnreadableControl.class);
		shop.appendTo(OTHER, "kept");
		int before = control.reads.get();
		await().until(() -> control.reads.get() > before + 3);
		assertThat(published(OTHER)).isEmpty();
		control.readable = true;
		await().untilAsserted(() -> assertThat(published(OTHER)).hasSize(1));
	}

	@Test
	void keepsEventsThatWaitForAnotherAttemptWhileTheirTopicIsPaused() {
		Shop shop = open();
		AtomicInteger attempts = new AtomicInteger();
		shop.broker().answer((event) -> {
			if (event.topic().equals(PAUSED)) {
				attempts.incrementAndGet();
				control(shop).pause(PAUSED);
				shop.relay().refreshPausedTopics();
				return new Outcome.Retry("not yet", null);
			}
			return new Outcome.Delivered();
		});
		shop.appendTo(PAUSED, "kept");
		await().untilAsserted(() -> assertThat(shop.waiting()).isOne());
		for (int i = 0; i < 5; i++) {
			shop.appendTo(OTHER, "new-" + i);
			await().untilAsserted(() -> assertThat(shop.pending()).isOne());
		}
		assertThat(attempts).hasValue(1);
		shop.broker().answer((event) -> new Outcome.Delivered());
		control(shop).resume(PAUSED);
		await().untilAsserted(() -> assertThat(published(PAUSED)).hasSize(1));
	}

	@Test
	void deliversOthersWhileManyTopicsArePaused() {
		Shop shop = open();
		List<String> many = IntStream.range(0, 4 * CircuitBreakers.MAX_DESTINATIONS)
			.mapToObj((i) -> PAUSED + i)
			.toList();
		many.forEach(control(shop)::pause);
		awaitPaused(Set.copyOf(many));
		many.forEach((topic) -> shop.appendTo(topic, "kept"));
		shop.leaveBehind("left", 1);
		shop.appendTo(OTHER, "new");
		await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactlyInAnyOrder("left", "new"));
		await().untilAsserted(() -> assertThat(shop.pending()).isEqualTo(many.size()));
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
		many.forEach(control(shop)::resume);
		await().untilAsserted(() -> assertThat(shop.pending()).isZero());
	}

	private Shop open(String... more) {
		Shop shop = Shop.open(this.database.properties(postgres, "pause"), Shop.OFTEN, more);
		this.shops.add(shop);
		return shop;
	}

	private void awaitPaused(Set<String> topics) {
		this.shops.forEach((shop) -> await().until(() -> shop.relay().pausedTopics().equals(topics)));
	}

	private List<SerializedEvent> published(String topic) {
		return this.shops.stream()
			.flatMap((shop) -> shop.broker().published().stream())
			.filter((event) -> event.topic().equals(topic))
			.toList();
	}

	private static int unleased(Shop shop) {
		return shop.database()
			.sql("select count(*) from relay_event where due_at is null and attempts = 0")
			.query(Integer.class)
			.single();
	}

	private static TopicControl control(Shop shop) {
		return shop.bean(TopicControl.class);
	}

	@Primary
	static class UnreadableControl implements TopicControl {

		private final AtomicInteger reads = new AtomicInteger();

		private volatile boolean readable;

		@Override
		public boolean pause(String topic) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean resume(String topic) {
			throw new UnsupportedOperationException();
		}

		@Override
		public List<PausedTopic> paused() {
			this.reads.incrementAndGet();
			if (this.readable) {
				return List.of();
			}
			throw new DataAccessResourceFailureException("away");
		}

	}

}
