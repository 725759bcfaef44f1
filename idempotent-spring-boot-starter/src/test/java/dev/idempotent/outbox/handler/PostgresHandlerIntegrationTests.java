package dev.idempotent.outbox.handler;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.testing.Patience;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The promises on PostgreSQL, and handlers whose transaction the database ends.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PostgresHandlerIntegrationTests extends AbstractHandlerTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	/**
	 * PostgreSQL answers the commit of a failed transaction with a rollback.
	 */
	@Test
	void repeatWorkOfATransactionThatHasFailedWithoutTheirException() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> shop.jdbc().execute("select 1 / 0"));
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

	/**
	 * So each statement is in a transaction of its own within the one that it belongs to.
	 */
	@ParameterizedTest
	@CsvSource({ "always, 1", "always, 5", "conservative, 1", "conservative, 5" })
	void handleEventsWithSavepointsOfTheDriver(String autosave, int attempts) {
		HandlerShop shop = open(HandlerShop.OFTEN,
				"spring.datasource.hikari.data-source-properties.autosave=" + autosave,
				"idempotent.outbox.handlers.attempts=" + attempts);
		shop.append(HandlerShop.event("order.placed", "1"), HandlerShop.event("order.placed", "2").withKey("key"));
		await().untilAsserted(() -> assertThat(shop.rowsOf("handlers:book")).isZero());
		assertThat(shop.work("book")).containsExactly("1", "2");
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void changeNoRowBeforeItIsDeletedWithTheirWork() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		List<Map<String, Object>> rows = new CopyOnWriteArrayList<>();
		List<String> attempts = new CopyOnWriteArrayList<>();
		shop.handlers().whenBooking((id) -> {
			rows.addAll(Objects.requireNonNull(shop.newTransaction().execute((status) -> states(shop))));
			attempts.add(id);
		});
		shop.append(HandlerShop.event("order.placed", "1"), HandlerShop.event("order.placed", "2").withKey("key"),
				HandlerShop.event("order.placed", "3").withKey("key"));
		awaitNoRows(shop);
		assertThat(attempts).containsExactlyInAnyOrder("1", "2", "3").containsSubsequence("2", "3");
		assertThat(rows).hasSizeGreaterThanOrEqualTo(3)
			.allSatisfy((row) -> assertThat(row).containsEntry("attempts", 0)
				.containsEntry("due_at", null)
				.containsEntry("last_error", null));
		assertThat(shop.work("book")).containsExactly("1", "2", "3");
		assertThat(shop.lost()).isZero();
	}

	/**
	 * As a process has left it that has died while it handled the event.
	 */
	@Test
	void countAnAttemptBehindOneThatWasNotCounted() {
		HandlerShop idle = open(List.of(), new String[] { "idempotent.outbox.relay.enabled=false" });
		// Not before the handler counts.
		idle.bean(TopicControl.class).pause("handlers:book");
		idle.append(HandlerShop.event("order.placed", "1").withKey("key"), HandlerShop.event("order.placed", "2"));
		idle.newTransaction().executeWithoutResult((status) -> {
			assertThat(idle.jdbc().queryForList("select id from handler_event for update")).hasSize(4);
			status.setRollbackOnly();
		});
		HandlerShop shop = open(HandlerShop.OFTEN);
		List<Integer> attempts = new CopyOnWriteArrayList<>();
		shop.handlers()
			.whenBooking((id) -> attempts.add(shop.jdbc()
				.queryForObject("select max(attempts) from handler_event where topic = 'handlers:book' and xmax <> 0",
						Integer.class)));
		shop.bean(TopicControl.class).resume("handlers:book");
		awaitNoRows(shop);
		assertThat(attempts).containsExactly(1, 1);
		assertThat(shop.work("book")).containsExactly("1", "2");
	}

	/**
	 * The session ends with its process, which then reports nothing. Each shop is one.
	 */
	@Test
	void becomeDeadIfEachAttemptEndsItsProcess() {
		AtomicInteger deaths = new AtomicInteger();
		CountDownLatch end = new CountDownLatch(1);
		List<HandlerShop> processes = IntStream.range(0, 4)
			.mapToObj((i) -> open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=2",
					"idempotent.outbox.handlers.leases.book=2s", "idempotent.outbox.handlers.concurrencies.book=1"))
			.toList();
		processes.forEach((each) -> each.handlers().whenBooking((id) -> {
			if (id.equals("poison")) {
				deaths.incrementAndGet();
				endSession(each.jdbc());
				Patience.await(end);
			}
		}));
		HandlerShop shop = processes.get(0);
		shop.append(HandlerShop.event("order.placed", "poison").withKey("key"));
		shop.append(HandlerShop.event("order.placed", "next").withKey("key"));
		awaitNoRows(shop);
		// One that was not counted, unless this machine was too slow for the lease.
		assertThat(deaths).hasValueBetween(2, 3);
		end.countDown();
		assertThat(shop.dead()).hasSize(1);
		assertThat(shop.work("book")).containsExactly("next");
	}

	/**
	 * Which claims them between the deaths, and takes its attempt back.
	 */
	@Test
	void becomeDeadBesideAVersionThatCannotReadThem() {
		AtomicInteger deaths = new AtomicInteger();
		CountDownLatch end = new CountDownLatch(1);
		After.step = (jdbc) -> {
			deaths.incrementAndGet();
			endSession(jdbc);
			Patience.await(end);
		};
		for (int i = 1; i < 6; i++) {
			HandlerShop process = open(List.of(After.class), HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=2",
					"idempotent.outbox.handlers.leases.paint=1s", "idempotent.outbox.handlers.concurrencies.paint=1");
			if (i == 1) {
				process.append(OutboxEvent.of("car.ordered", new HandlerShop.Order("poison"))
					.toTopic("handlers")
					.withKey("key"));
			}
			int number = i;
			await().until(() -> deaths.get() == number || !process.dead().isEmpty());
			HandlerShop before = open(List.of(Before.class), HandlerShop.OFTEN);
			await().until(() -> before.jdbc()
				.queryForList("select id from handler_event where last_error is null or xmax not in (0, xmin)")
				.isEmpty());
			before.close();
		}
		end.countDown();
		assertThat(deaths).hasValueBetween(2, 3);
	}

	@Test
	void useUpNoAttemptsDuringAnOutage() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=3");
		AtomicBoolean away = new AtomicBoolean(true);
		shop.handlers().whenBooking((id) -> {
			if (away.get()) {
				throw new IllegalStateException("The provider is away");
			}
		});
		for (int i = 10; i < 50; i++) {
			shop.append(HandlerShop.event("order.placed", Integer.toString(i)).withKey("key-" + i % 20));
		}
		await().untilAsserted(() -> assertThat(shop.relay().unavailablePublishers()).containsExactly("handlers:book"));
		away.set(false);
		awaitNoRows(shop);
		assertThat(shop.work("book")).hasSize(40).doesNotHaveDuplicates();
		assertThat(shop.dead()).isEmpty();
		assertThat(shop.relay().unavailablePublishers()).isEmpty();
	}

	@Test
	void areCalledOnceAtMostIfTheyHaveOneAttempt() {
		HandlerShop shop = open(HandlerShop.OFTEN, "idempotent.outbox.handlers.attempts=1");
		List<Map<String, Object>> rows = new CopyOnWriteArrayList<>();
		shop.handlers()
			.whenBooking((id) -> rows
				.addAll(Objects.requireNonNull(shop.newTransaction().execute((status) -> states(shop)))));
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(rows).singleElement().satisfies((row) -> assertThat(row).containsEntry("attempts", 1));
	}

	/**
	 * Another transaction has changed the row since the snapshot of this one began.
	 */
	@Test
	void handleEachEventOnceInOrderAtAHigherIsolation() {
		HandlerShop shop = open(List.of(Strict.class), HandlerShop.OFTEN);
		HandlerShop other = open(List.of(Strict.class), HandlerShop.OFTEN);
		for (int i = 10; i < 50; i++) {
			((i % 2 == 0) ? shop : other)
				.append(OutboxEvent.of("order.checked", new HandlerShop.Order(Integer.toString(i)))
					.toTopic("handlers")
					.withKey("key-" + i % 3));
		}
		awaitNoRows(shop);
		assertThat(shop.jdbc().queryForList("select content from handler_work where handler = 'check'", String.class))
			.hasSize(40)
			.doesNotHaveDuplicates();
		assertThat(shop.dead()).isEmpty();
	}

	@Test
	void areCalledAgainAfterADeadlock() throws Exception {
		try (HandlerShop shop = HandlerShop.open(postgres.properties(), HandlerShop.OFTEN, List.of())) {
			shop.jdbc().execute("create table handler_account (id varchar(10) primary key, n int)");
			shop.jdbc().execute("insert into handler_account values ('a', 0), ('b', 0)");
			try (Connection connection = shop.bean(DataSource.class).getConnection();
					Statement rival = connection.createStatement()) {
				connection.setAutoCommit(false);
				// The other side looks for the deadlock, and finds it in itself.
				rival.execute("set local deadlock_timeout = '1min'");
				add(rival, "b");
				AtomicInteger calls = new AtomicInteger();
				CompletableFuture<Void> waiting = new CompletableFuture<>();
				shop.handlers().whenBooking((id) -> {
					shop.jdbc().update("update handler_account set n = n + 1 where id = 'a'");
					if (calls.incrementAndGet() == 1) {
						CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> {
							add(rival, "a");
							commit(connection);
							waiting.complete(null);
						});
						await().until(() -> isWaiting(shop));
					}
					shop.jdbc().update("update handler_account set n = n + 1 where id = 'b'");
				});
				shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
				waiting.get(60, TimeUnit.SECONDS);
				await().untilAsserted(() -> assertThat(shop.rows()).isZero());
				assertThat(calls).hasValue(2);
				assertThat(shop.work("book")).containsExactly("1");
				assertThat(shop.jdbc().queryForList("select n from handler_account", Integer.class)).containsExactly(2,
						2);
				assertThat(shop.dead()).isEmpty();
			}
			finally {
				shop.jdbc().execute("drop table handler_account");
				shop.forgetAll();
			}
		}
	}

	/**
	 * As of a process that does not go on while its transaction is open.
	 */
	@Test
	void areCalledAgainAfterAPauseThatIsTooLongForTheDatabase() {
		try (HandlerShop shop = HandlerShop.open(postgres.properties(), HandlerShop.OFTEN, List.of(),
				"idempotent.outbox.handlers.leases.book=1s")) {
			AtomicInteger calls = new AtomicInteger();
			CountDownLatch called = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			shop.handlers().whenBooking((id) -> {
				calls.incrementAndGet();
				called.countDown();
				shop.jdbc().execute("set local idle_in_transaction_session_timeout = '100ms'");
				Patience.await(end);
			});
			shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
			Patience.await(called);
			try (HandlerShop other = HandlerShop.open(postgres.properties(), HandlerShop.OFTEN, List.of())) {
				await().untilAsserted(() -> assertThat(other.rows()).isZero());
			}
			end.countDown();
			assertThat(calls).hasValue(1);
			await().untilAsserted(() -> assertThat(shop.lost()).isOne());
			assertThat(shop.work("book")).containsExactly("1");
			shop.forgetAll();
		}
	}

	@Override
	List<String> database() {
		return postgres.properties();
	}

	private static List<Map<String, Object>> states(HandlerShop shop) {
		return shop.jdbc()
			.queryForList("select attempts, due_at, last_error from handler_event where topic = 'handlers:book'");
	}

	private static void endSession(JdbcTemplate jdbc) {
		Integer session = jdbc.queryForObject("select pg_backend_pid()", Integer.class);
		CompletableFuture.supplyAsync(() -> jdbc.queryForList("select pg_terminate_backend(?)", Boolean.class, session))
			.join();
	}

	private static boolean isWaiting(HandlerShop shop) {
		try (Connection connection = shop.bean(DataSource.class).getConnection();
				Statement statement = connection.createStatement();
				ResultSet row = statement
					.executeQuery("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
							+ "and query like 'update handler_account%'")) {
			return row.next() && row.getLong(1) == 1;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void add(Statement statement, String id) {
		try {
			statement.executeUpdate("update handler_account set n = n + 1 where id = '" + id + "'");
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void commit(Connection connection) {
		try {
			connection.commit();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Before {

		@OutboxHandler(type = "car.ordered", name = "paint")
		void paint(List<String> unreadable) {
		}

	}

	static class After {

		private static volatile Consumer<JdbcTemplate> step = (jdbc) -> {
		};

		private final JdbcTemplate jdbc;

		After(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@OutboxHandler(type = "car.ordered", name = "paint")
		void paint(HandlerShop.Order order) {
			step.accept(this.jdbc);
		}

	}

	static class Strict {

		private final HandlerShop.Handlers handlers;

		Strict(HandlerShop.Handlers handlers) {
			this.handlers = handlers;
		}

		@OutboxHandler(type = "order.checked", name = "check")
		@Transactional(isolation = Isolation.SERIALIZABLE)
		public void check(HandlerShop.Order order) {
			this.handlers.work("check", order.id());
		}

	}

}
