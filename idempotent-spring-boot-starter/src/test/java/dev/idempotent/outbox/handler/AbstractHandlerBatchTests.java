package dev.idempotent.outbox.handler;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What handlers of several events promise on each database.
 */
@Timeout(180)
abstract class AbstractHandlerBatchTests {

	static final String[] IDLE = { "idempotent.outbox.relay.enabled=false" };

	private final List<HandlerShop> shops = new ArrayList<>();

	/**
	 * The properties of the database.
	 */
	abstract List<String> database();

	@AfterEach
	void close() {
		this.shops.get(0).forgetAll();
		this.shops.forEach(HandlerShop::close);
	}

	final HandlerShop open(String[] relay, String... properties) {
		HandlerShop shop = HandlerShop.open(database(), relay, List.of(Batches.class), properties);
		this.shops.add(shop);
		return shop;
	}

	private static OutboxEvent event(int number) {
		return OutboxEvent.of("item.sold", new HandlerShop.Order(Integer.toString(number))).toTopic("handlers");
	}

	static OutboxEvent[] events(int count) {
		return IntStream.range(0, count).mapToObj(AbstractHandlerBatchTests::event).toArray(OutboxEvent[]::new);
	}

	static String[] ids(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).toArray(String[]::new);
	}

	static void awaitNoRows(HandlerShop shop) {
		await().untilAsserted(() -> assertThat(shop.rows()).isZero());
	}

	@Test
	void getSeveralEventsThatAreRemovedWithTheirWork() {
		HandlerShop idle = open(IDLE);
		HandlerShop shop = open(HandlerShop.OFTEN);
		Batches batches = shop.bean(Batches.class);
		batches.step = (ids) -> {
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
			assertThat(IdempotencyContext.current()).isNull();
		};
		idle.append(events(35));
		awaitNoRows(shop);
		assertThat(shop.work("count")).containsExactlyInAnyOrder(ids(35));
		assertThat(batches.calls).allMatch((ids) -> ids.size() <= 10).anyMatch((ids) -> ids.size() > 1);
		assertThat(shop.dead()).isEmpty();
		assertThat(shop.lost()).isZero();
	}

	@Test
	void areDoneWithoutTheEventThatMakesThemFail() {
		HandlerShop idle = open(IDLE);
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=2");
		Batches batches = shop.bean(Batches.class);
		batches.step = (ids) -> {
			if (ids.contains("17")) {
				throw new IllegalStateException("poison");
			}
		};
		idle.append(events(30));
		awaitNoRows(shop);
		assertThat(shop.work("count")).doesNotHaveDuplicates().hasSize(29).doesNotContain("17");
		assertThat(shop.dead()).singleElement()
			.satisfies((dead) -> assertThat(dead).containsEntry("attempts", 2)
				.containsEntry("last_error", "The handler failed with java.lang.IllegalStateException"));
	}

	/**
	 * As by a time-out of a service that it calls.
	 */
	@Test
	void areDoneWithoutTheEventWhoseFailuresTakeHalfOfTheLease() {
		HandlerShop idle = open(IDLE);
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.leases.count=2s");
		shop.bean(Batches.class).step = (ids) -> {
			if (ids.contains("17")) {
				long start = System.nanoTime();
				await().until(() -> System.nanoTime() - start > Duration.ofSeconds(1).toNanos());
				throw new IllegalStateException("poison");
			}
		};
		idle.append(events(30));
		await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
			assertThat(shop.work("count")).doesNotHaveDuplicates().hasSize(29).doesNotContain("17");
			assertThat(shop.waiting()).singleElement()
				.satisfies((event) -> assertThat(event).doesNotContainEntry("attempts", 0));
		});
	}

	@Test
	void getOneEventOfAKeyAfterTheOther() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		HandlerShop other = open(HandlerShop.OFTEN);
		List<String> handled = new CopyOnWriteArrayList<>();
		AtomicInteger failures = new AtomicInteger();
		for (HandlerShop each : List.of(shop, other)) {
			each.bean(Batches.class).step = (ids) -> {
				assertThat(ids.stream().map((id) -> Integer.parseInt(id) % 5)).doesNotHaveDuplicates();
				if (failures.incrementAndGet() % 7 == 0) {
					throw new IllegalStateException("not yet");
				}
				handled.addAll(ids);
			};
		}
		for (int i = 0; i < 50; i++) {
			((i % 2 == 0) ? shop : other).append(event(i).withKey("key-" + i % 5));
		}
		awaitNoRows(shop);
		assertThat(shop.work("count")).hasSize(50).doesNotHaveDuplicates();
		for (int key = 0; key < 5; key++) {
			int remainder = key;
			assertThat(handled.stream().map(Integer::valueOf).filter((id) -> id % 5 == remainder)).isSorted()
				.hasSize(10);
		}
	}

	@Test
	void leaveWhatTheyCannotReadToOthers() {
		HandlerShop idle = open(IDLE);
		idle.append(events(9));
		idle.leaveBehind("handlers:count", null, "{\"id\":\"secret", 0);
		HandlerShop shop = open(HandlerShop.OFTEN);
		await().untilAsserted(() -> assertThat(shop.waiting()).singleElement()
			.satisfies((event) -> assertThat(event).containsEntry("attempts", 0)
				.containsEntry("last_error",
						"The payload cannot be converted to " + HandlerShop.Order.class.getName())));
		assertThat(shop.work("count")).containsExactlyInAnyOrder(ids(9));
	}

	/**
	 * Which repeats their work.
	 */
	@Test
	void loseNoEventIfTheyCommitThemselves() {
		HandlerShop idle = open(IDLE);
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		List<Integer> rows = new CopyOnWriteArrayList<>();
		shop.bean(Batches.class).step = (ids) -> {
			if (calls.incrementAndGet() == 1) {
				commit(shop.bean(DataSource.class));
				rows.add(shop.newTransaction().execute((status) -> shop.rowsOf("handlers:count")));
			}
		};
		idle.append(events(10));
		awaitNoRows(shop);
		assertThat(rows).containsExactly(10);
		assertThat(shop.work("count")).contains(ids(10));
		assertThat(shop.dead()).isEmpty();
	}

	private static void commit(DataSource dataSource) {
		try {
			DataSourceUtils.getConnection(dataSource).commit();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void useUpNoAttemptsDuringAnOutage() {
		HandlerShop idle = open(IDLE);
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=3");
		AtomicBoolean away = new AtomicBoolean(true);
		shop.bean(Batches.class).step = (ids) -> {
			if (away.get()) {
				throw new IllegalStateException("The provider is away");
			}
		};
		idle.append(events(60));
		await().untilAsserted(() -> assertThat(shop.relay().unavailablePublishers()).containsExactly("handlers:count"));
		away.set(false);
		awaitNoRows(shop);
		assertThat(shop.work("count")).containsExactlyInAnyOrder(ids(60));
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void areRunInTests() {
		HandlerShop shop = open(IDLE);
		shop.append(events(3));
		assertThat(shop.relay().runHandlers()).isEqualTo(3);
		assertThat(shop.work("count")).containsExactlyInAnyOrder(ids(3));
	}

	static class Batches {

		private final HandlerShop.Handlers handlers;

		final List<List<String>> calls = new CopyOnWriteArrayList<>();

		private volatile Consumer<List<String>> step = (ids) -> {
		};

		Batches(HandlerShop.Handlers handlers) {
			this.handlers = handlers;
		}

		@OutboxHandler(type = "item.sold", name = "count", batch = 10)
		public void count(List<HandlerShop.Order> orders) {
			List<String> ids = orders.stream().map((order) -> Objects.requireNonNull(order).id()).toList();
			this.calls.add(ids);
			ids.forEach((id) -> this.handlers.work("count", id));
			this.step.accept(ids);
		}

	}

}
