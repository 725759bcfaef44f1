package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.function.ToIntFunction;

import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.TestedOrderedStore.DeadOrderedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What every store promises about the end of an attempt to deliver ordered events.
 */
public abstract class OrderedStoreSettlement extends OrderedStoreSteps {

	@Test
	void deletesDeliveredEvents() {
		List<LeasedEvent> held = all(appendLeased("a1", "b1"), appendLeased("c1"));
		append("a2");
		assertThat(store().delivered(held)).isEqualTo(3);
		assertThat(stored()).containsExactly("a2");
		assertThat(types(claim("a"))).containsExactly("a2");
		assertThat(store().delivered(held)).isZero();
	}

	@Test
	void releasesEventsWithoutCountingTheirAttempts() {
		append("a1", "a2", "b1");
		assertThat(store().release(claim("a", "b"))).isEqualTo(3);
		assertThat(rows()).allSatisfy((row) -> {
			assertThat(row.claimId()).isNull();
			assertThat(row.owner()).isNull();
			assertThat(row.event().attempts()).isZero();
		});
		assertThat(requireHead("a").due()).isTrue();
		assertThat(claim("a", "b")).extracting((held) -> held.event().attempts()).containsExactly(1, 1, 1);
	}

	@Test
	void releasesEventsThatWereAppendedWithALease() {
		assertThat(store().release(appendLeased("a1"))).isEqualTo(1);
		assertThat(claim("a")).extracting((held) -> held.event().attempts()).containsExactly(1);
	}

	@Test
	void postponesAnEventInItsRowAndTheLaterOnesOfItsKey() {
		List<SerializedEvent> rows = append("a1", "a2", "b1");
		List<LeasedEvent> held = claim("a");
		assertThat(store().postpone(List.of(new FailedEvent(held.get(0), "the broker said no", LONG)))).isEqualTo(1);
		store().release(held.subList(1, 2));
		OrderedRowState row = row("a1");
		assertThat(row.row()).isEqualTo(rows.get(0).sequence());
		assertThat(row.reason()).isEqualTo("the broker said no");
		assertThat(row.claimId()).isNull();
		assertThat(row.owner()).isNull();
		assertThat(row.event().attempts()).isEqualTo(1);
		assertThat(requireHead("a").due()).isFalse();
		assertThat(types(claim("a", "b"))).containsExactly("b1");
		passTime();
		assertThat(claim("a")).extracting((each) -> each.event().attempts()).containsExactly(2, 1);
	}

	@Test
	void takesBackAnAttemptThatIsNotCounted() {
		append("a1", "b1");
		store().postpone(claim("a", "b").stream()
			.map((held) -> new FailedEvent(held, "again", Duration.ZERO, held.event().type().equals("a1")))
			.toList());
		assertThat(row("a1").event().attempts()).isEqualTo(1);
		assertThat(row("b1").event().attempts()).isZero();
		assertThat(claim("b")).extracting((each) -> each.event().attempts()).containsExactly(1);
	}

	@Test
	void keepsTheReasonAndDelayOfEachPostponedEvent() {
		append("a1", "b1");
		store().postpone(claim("a", "b").stream()
			.map((held) -> new FailedEvent(held, "why " + held.event().type(),
					held.event().type().equals("a1") ? Duration.ZERO : LONG))
			.toList());
		assertThat(rows()).extracting((row) -> row.event().type(), OrderedRowState::reason)
			.containsExactlyInAnyOrder(tuple("a1", "why a1"), tuple("b1", "why b1"));
		assertThat(types(claim("a", "b"))).containsExactly("a1");
	}

	@Test
	void blocksAKeyUntilAnOperatorActs() {
		append("a1", "a2", "b1");
		assertThat(block(claim(new dev.idempotent.outbox.OrderedOutboxStore.KeyLimits(1, 1, 2, 10), "a"))).isEqualTo(1);
		OrderedRowState row = row("a1");
		assertThat(row.blocked()).isTrue();
		assertThat(row.reason()).isEqualTo("blocked");
		assertThat(row.claimId()).isNull();
		assertThat(row.event().attempts()).isEqualTo(1);
		assertThat(row("a2").blocked()).isFalse();
		passTime();
		assertThat(requireHead("a").due()).isFalse();
		assertThat(types(claim("a", "b"))).containsExactly("b1");
	}

	@Test
	void movesDeadEventsOutOfTheWayOfTheirKeys() {
		List<SerializedEvent> rows = append("a1", "a2", "b1");
		List<LeasedEvent> held = claim("a", "b");
		assertThat(deadLetter(held.stream().filter((each) -> each.row() != rows.get(1).sequence()).toList()))
			.isEqualTo(2);
		store().release(held);
		assertThat(stored()).containsExactly("a2");
		assertThat(types(claim("a", "b"))).containsExactly("a2");
		List<DeadOrderedEvent> dead = tested().dead(this.topic);
		assertThat(dead)
			.extracting((each) -> each.event().sequence(), DeadOrderedEvent::keyHash, DeadOrderedEvent::reason)
			.containsExactlyInAnyOrder(tuple(rows.get(0).sequence(), hash("a"), "dead"),
					tuple(rows.get(2).sequence(), hash("b"), "dead"));
		assertThat(dead).extracting((each) -> EventFacts.of(each.event()))
			.containsExactlyInAnyOrder(EventFacts.of(rows.get(0), 1), EventFacts.of(rows.get(2), 1));
	}

	@Test
	void keepsAReasonWithAnyCharacters() {
		append("a1", "b1", "c1");
		String reason = "unexpected byte \u0000 in '\u20AC\uD83D\uDE00' " + "x".repeat(1000);
		List<FailedEvent> failed = claim("a", "b", "c").stream()
			.map((held) -> new FailedEvent(held, reason, LONG))
			.toList();
		assertThat(store().postpone(failed.subList(0, 1))).isOne();
		assertThat(store().block(failed.subList(1, 2))).isOne();
		assertThat(store().deadLetter(failed.subList(2, 3))).isOne();
		assertThat(rows()).hasSize(2)
			.allSatisfy((row) -> assertThat(row.reason()).startsWith("unexpected byte ").contains("\uD83D\uDE00"));
		assertThat(tested().dead(this.topic).get(0).reason()).startsWith("unexpected byte ");
	}

	@Test
	void doesNothingForNoEvents() {
		append("a1");
		assertThat(store().delivered(List.of())).isZero();
		assertThat(store().release(List.of())).isZero();
		assertThat(store().postpone(List.of())).isZero();
		assertThat(store().deadLetter(List.of())).isZero();
		assertThat(store().block(List.of())).isZero();
		assertThat(stored()).containsExactly("a1");
	}

	@Test
	void deletesOnlyEventsThatAreStillLeased() {
		settlesOnlyEventsThatAreStillLeased(store()::delivered);
	}

	@Test
	void releasesOnlyEventsThatAreStillLeased() {
		settlesOnlyEventsThatAreStillLeased(store()::release);
	}

	@Test
	void postponesOnlyEventsThatAreStillLeased() {
		settlesOnlyEventsThatAreStillLeased((events) -> postpone(events, LONG));
	}

	@Test
	void deadLettersOnlyEventsThatAreStillLeased() {
		settlesOnlyEventsThatAreStillLeased(this::deadLetter);
	}

	@Test
	void blocksOnlyEventsThatAreStillLeased() {
		settlesOnlyEventsThatAreStillLeased(this::block);
	}

	/**
	 * Keys a and b are claimed again, c is not, and d was deleted.
	 */
	private void settlesOnlyEventsThatAreStillLeased(ToIntFunction<List<LeasedEvent>> verb) {
		append("a1", "a2", "b1", "c1", "d1");
		List<LeasedEvent> late = claim("a", "b", "c", "d");
		store().delivered(late.stream().filter((held) -> held.keyHash() == hash("d")).toList());
		passTime();
		List<LeasedEvent> current = claim("a", "b");
		assertThat(verb.applyAsInt(late)).isOne();
		assertThat(rows().stream().filter((row) -> row.keyHash() != hash("c")).toList())
			.extracting(OrderedRowState::row, OrderedRowState::claimId, (row) -> row.event().attempts())
			.containsExactlyElementsOf(current.stream().map((held) -> tuple(held.row(), held.claimId(), 2)).toList());
		assertThat(tested().dead(this.topic)).extracting((dead) -> dead.event().type()).isSubsetOf("c1");
		assertThat(verb.applyAsInt(current)).isEqualTo(3);
	}

}
