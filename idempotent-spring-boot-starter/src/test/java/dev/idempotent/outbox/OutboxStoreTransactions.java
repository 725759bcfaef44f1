package dev.idempotent.outbox;

import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What every store promises about the transactions of its callers.
 */
public abstract class OutboxStoreTransactions extends OutboxStoreSteps {

	@Test
	void dropsTheEventsOfARollback() {
		new TransactionTemplate(tested().transactions()).executeWithoutResult((status) -> {
			store().append(List.of(event("unleased")), null);
			store().append(List.of(event("leased")), lease());
			status.setRollbackOnly();
		});
		passTime();
		assertThat(claim()).isEmpty();
		assertThat(rows(Place.EVENT)).isEmpty();
	}

	@Test
	void dropsTheEventsOfAFailedTransaction() {
		assertThat(catchThrowable(() -> inTransaction(() -> {
			store().append(List.of(event("one")), null);
			throw new IllegalStateException("the order cannot be placed");
		}))).hasMessage("the order cannot be placed");
		assertThat(rows(Place.EVENT)).isEmpty();
	}

	@Test
	void hidesAnEventUntilItsTransactionCommits() {
		inTransaction(() -> {
			store().append(List.of(event("one")), null);
			assertThat(claim()).isEmpty();
			return true;
		});
		assertThat(types(claim())).containsExactly("one");
	}

	@Test
	void doesNotShowALeasedEventUntilItsTransactionCommits() {
		EventLease lease = lease();
		List<LeasedEvent> appended = inTransaction(() -> {
			List<LeasedEvent> leased = store().append(List.of(event("one")), lease)
				.stream()
				.map((event) -> new LeasedEvent(event, lease.claimId(), false))
				.toList();
			assertThat(store().committed(leased)).isEmpty();
			return leased;
		});
		assertThat(store().committed(appended)).isEqualTo(appended);
	}

	@Test
	void findsALowerRowThatCommitsLater() {
		List<SerializedEvent> rows = inTransaction(() -> {
			List<SerializedEvent> lower = store().append(List.of(event("lower")), null);
			List<SerializedEvent> higher = append("higher");
			assertThat(types(claim())).containsExactly("higher");
			return both(lower, higher);
		});
		assertThat(rows).extracting(SerializedEvent::sequence).isSorted();
		assertThat(claimAbove(rows.get(1).sequence(), 1000)).isEmpty();
		assertThat(types(claim())).containsExactly("lower");
	}

	@Test
	void commitsIndependentlyOfTheTransactionOfItsCaller() {
		append("claimed", "delivered", "released", "waiting", "dead");
		List<LeasedEvent> held = claim();
		passTime();
		List<LeasedEvent> mine = rolledBack(this::claim);
		assertThat(mine).hasSameSizeAs(held);
		rolledBack(() -> {
			store().delivered(mine.subList(1, 2));
			store().release(mine.subList(2, 3));
			postpone(mine.subList(3, 4), LONG);
			return deadLetter(mine.subList(4, 5));
		});
		assertThat(typesIn(Place.EVENT)).containsExactly("claimed", "released");
		assertThat(typesIn(Place.WAITING)).containsExactly("waiting");
		assertThat(typesIn(Place.DEAD)).containsExactly("dead");
		assertThat(types(claim())).containsExactly("released");
	}

	private <T> T rolledBack(Supplier<T> work) {
		return new TransactionTemplate(tested().transactions()).execute((status) -> {
			status.setRollbackOnly();
			return work.get();
		});
	}

}
