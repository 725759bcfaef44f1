package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStoreSteps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is promised about settlements that conflict with another transaction, with a pool
 * whose connections are neither in auto-commit mode nor READ COMMITTED.
 */
abstract class OutboxConflictsContract extends OutboxStoreSteps {

	/**
	 * Tables behind a pool that is SERIALIZABLE.
	 */
	@Override
	protected abstract StoreOnTables tested();

	/**
	 * Whether a transaction waits for a lock.
	 */
	abstract boolean someoneWaits();

	/**
	 * Ensures that the other transaction is the victim of a deadlock.
	 */
	abstract void survive(Statement rival) throws SQLException;

	@ParameterizedTest
	@ValueSource(strings = { "delivered", "release", "postpone", "deadLetter" })
	void settlesRowsThatAnotherTransactionHasJustChanged(String verb) throws SQLException {
		List<LeasedEvent> held = appendLeased("one", "two");
		try (Connection connection = connect(); Statement rival = connection.createStatement()) {
			change(rival, held.get(0));
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> settle(verb, held));
			await().until(this::someoneWaits);
			connection.commit();
			assertThat(settled.join()).isEqualTo(2);
		}
		assertThat(rows(Place.EVENT)).hasSize(verb.equals("release") ? 2 : 0);
	}

	@Test
	void repeatsASettlementAfterADeadlock() throws SQLException {
		List<LeasedEvent> held = appendLeased("one", "two");
		List<LeasedEvent> others = appendLeased(
				IntStream.range(0, 50).mapToObj((i) -> "other " + i).toArray(String[]::new));
		try (Connection connection = connect(); Statement rival = connection.createStatement()) {
			survive(rival);
			for (LeasedEvent other : others) {
				change(rival, other);
			}
			change(rival, held.get(1));
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> settle("postpone", held));
			await().until(this::someoneWaits);
			change(rival, held.get(0));
			connection.commit();
			assertThat(settled.join()).isEqualTo(2);
		}
		assertThat(typesIn(Place.WAITING)).containsExactly("one", "two");
	}

	private Connection connect() throws SQLException {
		Connection connection = tested().dataSource().getConnection();
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		connection.setAutoCommit(false);
		return connection;
	}

	private void change(Statement rival, LeasedEvent event) throws SQLException {
		rival.executeUpdate("update " + tested().table(Place.EVENT) + " set last_error = 'seen' where id = "
				+ event.event().sequence());
	}

	private int settle(String verb, List<LeasedEvent> held) {
		return switch (verb) {
			case "delivered" -> store().delivered(held);
			case "release" -> store().release(held);
			case "postpone" -> postpone(held, LONG);
			case "deadLetter" -> deadLetter(held);
			default -> throw new IllegalArgumentException(verb);
		};
	}

}
