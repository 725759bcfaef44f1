package dev.idempotent.outbox.handler;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The promises on H2, and a handler that goes on after the database has rolled back its
 * transaction to break a deadlock, and begun another one.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class H2HandlerTests extends AbstractHandlerTests {

	@Test
	void doNotCommitTheRestOfATransactionThatADeadlockHasRolledBack() throws Exception {
		List<String> calls = handleTwo("in-handler", Runnable::run);
		assertThat(calls).containsExactly("1", "1", "2");
	}

	/**
	 * Spring hides what a synchronization throws at this point, and commits.
	 */
	@Test
	void doNotCommitTheRestIfTheDeadlockHappensRightBeforeTheCommit() throws Exception {
		AtomicInteger completion = new AtomicInteger(-1);
		List<String> calls = handleTwo("before-commit",
				(step) -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCompletion() {
						step.run();
					}

					@Override
					public void afterCompletion(int status) {
						completion.set(status);
					}

				}));
		assertThat(calls).containsExactly("1", "1", "2");
		assertThat(completion).hasValueGreaterThan(TransactionSynchronization.STATUS_COMMITTED);
	}

	@Override
	List<String> database() {
		return List.of("spring.datasource.generate-unique-name=false",
				"spring.datasource.url=jdbc:h2:mem:handlers;DB_CLOSE_DELAY=-1");
	}

	/**
	 * Handles two events of a key, the first of which ends in a deadlock at its first
	 * attempt.
	 * @param when runs the step that ends in the deadlock
	 * @return the events in the order of the calls
	 */
	private static List<String> handleTwo(String name, Consumer<Runnable> when) throws Exception {
		List<String> database = List
			.of("spring.datasource.url=jdbc:h2:mem:handler-deadlock-" + name + ";LOCK_TIMEOUT=20000");
		try (HandlerShop shop = HandlerShop.open(database, HandlerShop.OFTEN, List.of())) {
			shop.jdbc().execute("create table account (id varchar(10) primary key, n int)");
			shop.jdbc().execute("insert into account values ('a', 0), ('b', 0)");
			try (Connection connection = shop.bean(DataSource.class).getConnection();
					Statement rival = connection.createStatement()) {
				connection.setAutoCommit(false);
				// The database chooses the transaction with fewer changes.
				rival.execute("insert into handler_work select 'ballast', 'x' from information_schema.columns");
				rival.execute("update account set n = n + 1 where id = 'b'");
				List<String> calls = new CopyOnWriteArrayList<>();
				CompletableFuture<Boolean> waiting = new CompletableFuture<>();
				Runnable deadlock = () -> {
					shop.jdbc().update("update account set n = n + 1 where id = 'a'");
					CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> waiting.complete(update(rival)));
					await().until(() -> isWaiting(shop));
					assertThatExceptionOfType(PessimisticLockingFailureException.class)
						.isThrownBy(() -> shop.jdbc().update("update account set n = n + 1 where id = 'b'"));
					shop.handlers().work("book", "second half");
				};
				shop.handlers().whenBooking((id) -> {
					calls.add(id);
					if (calls.size() == 1) {
						when.accept(deadlock);
					}
				});
				shop.append(HandlerShop.event("order.placed", "1").withKey("key"),
						HandlerShop.event("order.placed", "2").withKey("key"));
				assertThat(waiting.get(60, TimeUnit.SECONDS)).isTrue();
				await().untilAsserted(() -> assertThat(shop.rows()).isZero());
				assertThat(shop.work("book")).containsExactly("1", "2");
				connection.rollback();
				connection.setAutoCommit(true);
				return calls;
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
