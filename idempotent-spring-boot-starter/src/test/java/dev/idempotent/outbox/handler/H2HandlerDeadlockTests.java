package dev.idempotent.outbox.handler;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.PessimisticLockingFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A handler that goes on after its database has rolled back its transaction to break a
 * deadlock, and begun another one.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class H2HandlerDeadlockTests {

	@Test
	void doesNotCommitTheRest() throws Exception {
		List<String> database = List.of("spring.datasource.url=jdbc:h2:mem:handler-deadlock;LOCK_TIMEOUT=20000");
		try (HandlerShop shop = HandlerShop.open(database, HandlerShop.OFTEN, List.of())) {
			shop.jdbc().execute("create table account (id varchar(10) primary key, n int)");
			shop.jdbc().execute("insert into account values ('a', 0), ('b', 0)");
			try (Connection connection = shop.bean(DataSource.class).getConnection();
					Statement rival = connection.createStatement()) {
				connection.setAutoCommit(false);
				// The database chooses the transaction with fewer changes.
				rival.execute("insert into handler_work select 'ballast', 'x' from information_schema.columns");
				rival.execute("update account set n = n + 1 where id = 'b'");
				AtomicInteger calls = new AtomicInteger();
				CompletableFuture<Boolean> waiting = new CompletableFuture<>();
				shop.handlers().whenBooking((id) -> {
					if (calls.incrementAndGet() == 1) {
						shop.jdbc().update("update account set n = n + 1 where id = 'a'");
						CompletableFuture<Void> unused = CompletableFuture
							.runAsync(() -> waiting.complete(update(rival)));
						await().until(() -> isWaiting(shop));
						assertThatExceptionOfType(PessimisticLockingFailureException.class)
							.isThrownBy(() -> shop.jdbc().update("update account set n = n + 1 where id = 'b'"));
					}
					shop.handlers().work("book", "second half");
				});
				shop.append(HandlerShop.event("order.placed", "first half").withKey("1"));
				assertThat(waiting.get(60, TimeUnit.SECONDS)).isTrue();
				await().untilAsserted(() -> assertThat(shop.rows()).isZero());
				assertThat(calls).hasValue(2);
				assertThat(shop.work("book")).containsExactly("first half", "second half");
				connection.rollback();
				connection.setAutoCommit(true);
			}
		}
	}

	/**
	 * Asks on a connection of its own.
	 */
	private static boolean isWaiting(HandlerShop shop) throws SQLException {
		try (Connection connection = shop.bean(DataSource.class).getConnection();
				Statement statement = connection.createStatement();
				ResultSet row = statement
					.executeQuery("select count(*) from information_schema.sessions where blocker_id is not null")) {
			return row.next() && row.getLong(1) > 0;
		}
	}

	private static boolean update(Statement rival) {
		try {
			return rival.executeUpdate("update account set n = n + 1 where id = 'a'") == 1;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
