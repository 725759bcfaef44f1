package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is promised about steps that conflict with another transaction, with a pool whose
 * connections are neither in auto-commit mode nor READ COMMITTED.
 */
abstract class AbstractEventTableConflictsTests extends EventTableSteps {

	/**
	 * Whether a transaction waits for a lock.
	 */
	abstract boolean someoneWaits();

	/**
	 * Ensures that the other transaction is not the victim of a deadlock.
	 */
	abstract void survive(Statement rival) throws SQLException;

	@ParameterizedTest
	@ValueSource(strings = { "delete", "release", "postpone", "block", "moveToDead" })
	void settlesRowsThatAnotherTransactionHasJustChanged(String verb) throws SQLException {
		append("one", "two");
		List<ClaimedEvent> claims = claim();
		try (Connection connection = connect(); Statement rival = connection.createStatement()) {
			change(rival, claims.get(0));
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> settle(verb, claims));
			await().until(this::someoneWaits);
			connection.commit();
			// A row that was not released is due when its lease ends.
			assertThat(settled.join()).isBetween(verb.equals("release") ? 1 : 2, 2);
		}
		assertThat(heads()).hasSize((verb.equals("delete") || verb.equals("moveToDead")) ? 0 : 2);
	}

	/**
	 * The attempts are compared again once the lock is granted.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "delete", "release", "postpone", "block", "moveToDead" })
	void settlesNoRowThatAnotherTransactionHasJustClaimed(String verb) throws SQLException {
		append("one", "two");
		List<ClaimedEvent> claims = claim();
		try (Connection connection = connect(); Statement rival = connection.createStatement()) {
			rival.executeUpdate("update " + events() + " set attempts = attempts + 1 where id = "
					+ claims.get(0).event().sequence());
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> settle(verb, claims));
			await().until(this::someoneWaits);
			connection.commit();
			assertThat(settled.join()).isOne();
		}
		assertThat(heads()).extracting(QueuedEvent::attempts).contains(2);
	}

	@Test
	void repeatsASettlementAfterADeadlock() throws SQLException {
		append(IntStream.range(0, 52).mapToObj((i) -> "event " + i).toArray(String[]::new));
		List<ClaimedEvent> claims = claim();
		List<ClaimedEvent> settledOnes = claims.subList(0, 2);
		try (Connection connection = connect(); Statement rival = connection.createStatement()) {
			survive(rival);
			for (ClaimedEvent other : claims.subList(1, 52)) {
				change(rival, other);
			}
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> settle("postpone", settledOnes));
			await().until(this::someoneWaits);
			change(rival, claims.get(0));
			connection.commit();
			assertThat(settled.join()).isEqualTo(2);
		}
	}

	private Connection connect() throws SQLException {
		Connection connection = fixture().dataSource().getConnection();
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		connection.setAutoCommit(false);
		return connection;
	}

	private void change(Statement rival, ClaimedEvent claim) throws SQLException {
		rival.executeUpdate("update " + events() + " set last_error = 'seen' where lane = " + claim.lane()
				+ " and id = " + claim.event().sequence());
	}

	private int settle(String verb, List<ClaimedEvent> claims) {
		return switch (verb) {
			case "delete" -> table().delete(claims);
			case "release" -> table().release(claims);
			case "postpone" -> table().postpone(failures(claims, "broken"));
			case "block" -> table().block(failures(claims, "broken"));
			case "moveToDead" -> table().moveToDead(failures(claims, "broken"));
			default -> throw new IllegalArgumentException(verb);
		};
	}

}
