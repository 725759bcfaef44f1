package dev.idempotent.outbox.handler;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Handlers whose transaction the database ends.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlersEndedByPostgresIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

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
				HandlerRules.awaitLatch(end);
			});
			shop.append(HandlerShop.event("order.placed", "1").withKey("1"));
			HandlerRules.awaitLatch(called);
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

}
