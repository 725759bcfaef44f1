package dev.idempotent.outbox;

import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Race;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises about the transactions of its callers.
 */
public abstract class OrderedStoreTransactions extends OrderedStoreSteps {

	@Test
	void dropsTheEventsOfARollback() {
		rolledBack(() -> store().append(List.of(event("a1"), event("a2").leasedBy(lease()))));
		assertThat(rows()).isEmpty();
		assertThat(head("a")).isNull();
		assertThat(claim("a")).isEmpty();
	}

	@Test
	void hidesAnEventUntilItsTransactionCommits() {
		inTransaction(() -> {
			store().append(List.of(event("a1")));
			assertThat(head("a")).isNull();
			assertThat(claim("a")).isEmpty();
			return true;
		});
		assertThat(types(claim("a"))).containsExactly("a1");
	}

	@Test
	void findsALowerRowThatCommitsLater() {
		List<LeasedEvent> higher = inTransaction(() -> {
			store().append(List.of(event("a1")));
			append("a2");
			List<LeasedEvent> claimed = claim("a");
			assertThat(types(claimed)).containsExactly("a2");
			return claimed;
		});
		assertThat(requireHead("a").row()).isLessThan(higher.get(0).row());
		assertThat(types(claim("a"))).containsExactly("a1");
	}

	@Test
	void commitsIndependentlyOfTheTransactionOfItsCaller() {
		append("a1", "b1", "c1", "d1", "e1");
		List<LeasedEvent> held = rolledBack(() -> claim("a", "b", "c", "d", "e"));
		List<LeasedEvent> sorted = held.stream()
			.sorted((one, other) -> one.event().type().compareTo(other.event().type()))
			.toList();
		rolledBack(() -> store().delivered(sorted.subList(0, 1)) + store().release(sorted.subList(1, 2))
				+ postpone(sorted.subList(2, 3), LONG) + deadLetter(sorted.subList(3, 4))
				+ block(sorted.subList(4, 5)));
		assertThat(stored()).containsExactly("b1", "c1", "e1");
		assertThat(row("b1").event().attempts()).isZero();
		assertThat(row("e1").blocked()).isTrue();
		assertThat(tested().dead(this.topic)).hasSize(1);
	}

	/**
	 * The callers read nothing of the outbox, so that they do not conflict with relays.
	 */
	@ParameterizedTest
	@ValueSource(
			ints = { TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE })
	void appendsInAnyIsolationWhileRelaysDeliver(int isolation) throws InterruptedException {
		TransactionTemplate strict = new TransactionTemplate(tested().transactions());
		strict.setIsolationLevel(isolation);
		Race.of(4, (runner) -> {
			for (int i = 0; i < 15; i++) {
				String type = "a" + runner + "/" + i;
				if (runner < 2) {
					strict.executeWithoutResult((status) -> store().append(List.of(event(type))));
				}
				store().delivered(claim("a"));
			}
			return runner;
		});
		store().delivered(claim("a"));
		assertThat(rows()).isEmpty();
	}

	private <T> T rolledBack(Supplier<T> work) {
		return new TransactionTemplate(tested().transactions()).execute((status) -> {
			status.setRollbackOnly();
			return work.get();
		});
	}

}
