package dev.idempotent.outbox.jdbc;

import java.util.List;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStore.DelayedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is promised about rows that come again, as after a truncate that restarts the
 * sequence. Needs tables of its own.
 */
abstract class OutboxTakenRowsContract extends OutboxStoreSteps {

	@Override
	protected abstract StoreOnTables tested();

	@Test
	void movesAnEventToAnotherRowIfItsOwnIsTaken() {
		List<SerializedEvent> rows = append("first", "second", "third", "fourth");
		deadLetter(claimAbove(0, 1));
		postpone(claimAbove(0, 1), LONG);
		setRow(Place.WAITING, rows.get(1), rows.get(3));
		List<LeasedEvent> leased = claim();
		assertThat(deadLetter(leased.subList(0, 1))).isEqualTo(1);
		assertThat(postpone(leased.subList(1, 2), LONG)).isEqualTo(1);
		assertThat(typesIn(Place.EVENT)).isEmpty();
		assertThat(typesIn(Place.DEAD)).containsExactlyInAnyOrder("first", "third");
		assertThat(typesIn(Place.WAITING)).containsExactlyInAnyOrder("second", "fourth");
		assertThat(rows(Place.DEAD)).extracting((row) -> row.event().sequence()).doesNotHaveDuplicates();
	}

	@Test
	void retriesADeadEventWhoseRowIsTaken() {
		List<SerializedEvent> rows = append("first", "second");
		deadLetter(claimAbove(0, 1));
		postpone(claim(), LONG);
		setRow(Place.DEAD, rows.get(0), rows.get(1));
		JdbcDeadEvents dead = new JdbcDeadEvents(tested().dataSource(), tested().tables());
		assertThat(dead.retry(new DeadFilter(rows.get(0).id(), null, null))).isEqualTo(1);
		assertThat(typesIn(Place.WAITING)).containsExactlyInAnyOrder("first", "second");
		assertThat(typesIn(Place.DEAD)).isEmpty();
	}

	/**
	 * The relay moves it later.
	 */
	@Test
	void keepsADelayedEventWhoseRowIsTakenAmongThePendingOnes() {
		tested().template().update("delete from " + tested().table(Place.WAITING));
		long last = append("first").get(0).sequence();
		postpone(claim(), LONG);
		assertThat(tested().template()
			.update("update " + tested().table(Place.WAITING) + " set id = ? where id = ?", last + 1, last))
			.isEqualTo(1);
		inTransaction(() -> {
			store().appendDelayed(List.of(new DelayedEvent(event("second"), LONG)));
			return true;
		});
		assertThat(typesIn(Place.EVENT)).containsExactly("second");
		assertThat(claim()).isEmpty();
		assertThat(store().moveDelayedToWaiting(1000)).isEqualTo(1);
		assertThat(typesIn(Place.WAITING)).containsExactlyInAnyOrder("first", "second");
	}

	private void setRow(Place place, SerializedEvent event, SerializedEvent taken) {
		String column = (place == Place.DEAD) ? "sequence" : "id";
		assertThat(tested().template()
			.update("update " + tested().table(place) + " set " + column + " = ? where " + column + " = ?",
					taken.sequence(), event.sequence()))
			.isEqualTo(1);
	}

}
