package dev.idempotent.outbox.handler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxBacklog;
import dev.idempotent.testing.Patience;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Handlers of two versions of an application on one database, as during a deployment.
 */
@Timeout(180)
class HandlerVersionsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final String[] IDLE = { "idempotent.outbox.relay.enabled=false" };

	private static final String UNREADABLE = "The payload cannot be converted to ";

	private final List<HandlerShop> instances = new ArrayList<>();

	@AfterEach
	void close() {
		if (!this.instances.isEmpty()) {
			this.instances.get(0).forgetAll();
		}
		this.instances.forEach(HandlerShop::close);
	}

	private HandlerShop open(Class<?> version, String... properties) {
		HandlerShop shop = HandlerShop.open(postgres.properties(), HandlerShop.OFTEN, List.of(version), properties);
		this.instances.add(shop);
		return shop;
	}

	private static OutboxEvent[] events(int count, String colour) {
		return IntStream.range(0, count)
			.mapToObj((i) -> OutboxEvent.of("car.ordered", Map.of("id", Integer.toString(i), "colour", colour))
				.toTopic("handlers"))
			.toArray(OutboxEvent[]::new);
	}

	private static String[] ids(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).sorted().toArray(String[]::new);
	}

	/**
	 * Waits until an instance has read all rows several times.
	 */
	private static void awaitScans(HandlerShop shop) {
		AtomicInteger scans = new AtomicInteger();
		Duration[] last = { Duration.ZERO };
		await().pollInterval(Duration.ofMillis(2)).until(() -> {
			Duration age = shop.relay().lastPass().map(OutboxBacklog::age).orElse(Duration.ZERO);
			boolean again = age.compareTo(last[0]) < 0;
			last[0] = age;
			return again && scans.incrementAndGet() > 5;
		});
	}

	private static List<Map<String, Object>> changed(HandlerShop shop, String handler) {
		return shop.jdbc()
			.queryForList(
					"select topic, attempts, last_error from handler_event "
							+ "where topic = ? and (attempts > 0 or due_at is not null or last_error is not null)",
					"handlers:" + handler);
	}

	@Test
	void leaveTheEventsOfANewHandlerToTheVersionThatHasIt() {
		HandlerShop before = open(Before.class);
		HandlerShop after = open(After.class, IDLE);
		after.append(events(50, "RED"));
		awaitScans(before);
		assertThat(changed(before, "polish")).isEmpty();
		open(After.class);
		await().untilAsserted(() -> assertThat(before.rows()).isZero());
		assertThat(before.work("paint")).containsExactlyInAnyOrder(ids(50));
		assertThat(before.work("polish")).containsExactlyInAnyOrder(ids(50));
		assertThat(before.dead()).isEmpty();
	}

	@Test
	void leaveTheEventsOfARemovedOrRenamedHandlerToTheVersionThatHasIt() {
		HandlerShop before = open(Before.class, IDLE);
		HandlerShop after = open(Renamed.class);
		before.append(events(50, "RED"));
		awaitScans(after);
		assertThat(changed(after, "paint")).isEmpty();
		open(Before.class);
		await().untilAsserted(() -> assertThat(after.rows()).isZero());
		assertThat(after.work("paint")).containsExactlyInAnyOrder(ids(50));
		assertThat(after.dead()).isEmpty();
	}

	@Test
	void neitherClaimNorDiscardTheEventsOfAHandlerThatNobodyHas() {
		HandlerShop before = open(Before.class, IDLE);
		HandlerShop after = open(Renamed.class);
		before.append(events(3, "RED"));
		before.jdbc().update("update handler_event set created_at = created_at - interval '3 days'");
		awaitScans(after);
		assertThat(changed(after, "paint")).isEmpty();
		assertThat(after.rows()).isEqualTo(3);
		assertThat(after.dead()).isEmpty();
	}

	@Test
	void leaveAPayloadThatTheyCannotReadToTheVersionThatCan() {
		HandlerShop before = open(Before.class);
		HandlerShop after = open(NewPayload.class, IDLE);
		after.append(events(40, "BLUE"));
		awaitFailures(after, 40);
		assertThat(after.jdbc().queryForList("select distinct attempts from handler_event", Integer.class))
			.containsExactly(0);
		open(NewPayload.class);
		await().untilAsserted(() -> assertThat(before.rows()).isZero());
		assertThat(before.work("paint")).containsExactlyInAnyOrder(ids(40));
		assertThat(before.dead()).isEmpty();
	}

	@Test
	void leaveAPayloadOfTheVersionBeforeToIt() {
		HandlerShop before = open(Before.class, IDLE);
		HandlerShop after = open(OtherPayload.class);
		OutboxEvent[] events = events(40, "RED");
		for (int i = 0; i < events.length; i++) {
			events[i] = events[i].withKey("key-" + i % 7);
		}
		before.append(events);
		awaitFailures(before, 7);
		open(Before.class);
		await().untilAsserted(() -> assertThat(after.rows()).isZero());
		assertThat(after.work("paint")).containsExactlyInAnyOrder(ids(40));
		assertThat(after.dead()).isEmpty();
	}

	@Test
	void goOnWithThePayloadsThatTheyCanRead() {
		HandlerShop before = open(Before.class);
		HandlerShop after = open(NewPayload.class, IDLE);
		after.append(events(40, "BLUE"));
		awaitFailures(after, 40);
		after.append(events(5, "RED"));
		await().untilAsserted(() -> assertThat(before.work("paint")).containsExactly(ids(5)));
	}

	@Test
	void discardAPayloadThatNoVersionCouldReadForADay() {
		HandlerShop before = open(Before.class, IDLE);
		before.append(events(1, "BLUE"));
		before.jdbc().update("update handler_event set created_at = created_at - interval '25 hours'");
		open(Before.class);
		await().untilAsserted(() -> assertThat(before.dead()).singleElement()
			.satisfies((dead) -> assertThat(Objects.toString(dead.get("last_error"))).startsWith(UNREADABLE)));
	}

	/**
	 * Each waits until both have begun, so that one has claimed an event and the other
	 * one has only locked it.
	 */
	@Test
	void handleEachEventOnceInOrderBesideTheVersionThatClaimsAll() {
		HandlerShop before = open(Claiming.class);
		HandlerShop after = open(Before.class);
		CountDownLatch begun = new CountDownLatch(2);
		Map<String, List<Integer>> booked = new ConcurrentHashMap<>();
		Set<String> failed = ConcurrentHashMap.newKeySet();
		for (HandlerShop each : List.of(before, after)) {
			AtomicBoolean first = new AtomicBoolean(true);
			each.handlers().whenBooking((id) -> {
				if (first.getAndSet(false)) {
					begun.countDown();
				}
				Patience.await(begun);
				int number = Integer.parseInt(id);
				if (number % 9 == 0 && failed.add(id)) {
					throw new IllegalStateException("not yet");
				}
				booked.computeIfAbsent("key-" + number % 7, (key) -> new CopyOnWriteArrayList<>()).add(number);
			});
		}
		for (int i = 0; i < 140; i++) {
			((i / 7 % 2 == i % 2) ? before : after)
				.append(HandlerShop.event("order.placed", Integer.toString(i)).withKey("key-" + i % 7));
		}
		await().untilAsserted(() -> assertThat(before.rows()).isZero());
		assertThat(booked).hasSize(7)
			.allSatisfy((key, numbers) -> assertThat(numbers).hasSize(20).isSorted().doesNotHaveDuplicates());
		assertThat(before.work("book")).hasSize(140).doesNotHaveDuplicates();
		assertThat(before.dead()).isEmpty();
	}

	private static void awaitFailures(HandlerShop shop, int atLeast) {
		await().untilAsserted(() -> assertThat(shop.jdbc()
			.queryForList("select last_error from handler_event where last_error is not null", String.class))
			.hasSizeGreaterThanOrEqualTo(atLeast)
			.allMatch((error) -> error.startsWith(UNREADABLE)));
	}

	private static void work(JdbcTemplate jdbc, String handler, String id) {
		jdbc.update("insert into handler_work values (?, ?)", handler, id);
	}

	private enum Colour {

		RED

	}

	private enum MoreColours {

		RED, BLUE

	}

	private record Car(String id, Colour colour) {

	}

	private record CarOfMoreColours(String id, MoreColours colour) {

	}

	private record CarWithNumber(String id, int colour) {

	}

	static class Before {

		private final JdbcTemplate jdbc;

		Before(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "car.ordered", name = "paint")
		void paint(Car car) {
			work(this.jdbc, "paint", car.id());
		}

	}

	/**
	 * As the version that claimed each event before its transaction.
	 */
	static class Claiming extends Before implements BeanPostProcessor, BeanFactoryAware {

		@SuppressWarnings("NullAway.Init")
		private BeanFactory beans;

		Claiming(@Lazy JdbcTemplate jdbc) {
			super(jdbc);
		}

		@Override
		public void setBeanFactory(BeanFactory beans) {
			this.beans = beans;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof EventTable)
					? new EventTable(this.beans.getBean(OwnTransactions.class), "handler_", PayloadEncryption.NONE) {

						@Override
						public boolean showsLocks() {
							return false;
						}

					} : bean;
		}

	}

	static class After extends Before {

		private final JdbcTemplate more;

		After(JdbcTemplate jdbc) {
			super(jdbc);
			this.more = jdbc;
		}

		@OutboxHandler(type = "car.ordered", name = "polish")
		void polish(Car car) {
			work(this.more, "polish", car.id());
		}

	}

	static class Renamed {

		private final JdbcTemplate jdbc;

		Renamed(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "car.ordered", name = "lacquer")
		void paint(Car car) {
			work(this.jdbc, "lacquer", car.id());
		}

	}

	static class NewPayload {

		private final JdbcTemplate jdbc;

		NewPayload(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "car.ordered", name = "paint")
		void paint(CarOfMoreColours car) {
			work(this.jdbc, "paint", car.id());
		}

	}

	static class OtherPayload {

		private final JdbcTemplate jdbc;

		OtherPayload(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "car.ordered", name = "paint")
		void paint(CarWithNumber car) {
			work(this.jdbc, "paint", car.id());
		}

	}

}
