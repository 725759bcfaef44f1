package dev.idempotent.sample.rush;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import dev.idempotent.sample.rush.Findings.Reserved;
import dev.idempotent.sample.rush.Verdict.Line;
import dev.idempotent.sample.rush.Verdict.State;
import dev.idempotent.sample.stock.GateView;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A sale of two units, one of which is ordered.
 */
class VerdictTests {

	private static final Reserved ORDERED = new Reserved("one", "ann", "CONFIRMED", "order");

	private static final Reserved ENDED = new Reserved("two", "bob", "ENDED", null);

	private static final Optional<GateView> GATE = Optional.of(new GateView(1, 0));

	@Test
	void findsAnotherAnswerToARepeatedRequest() {
		assertThat(broken(
				audit(new Recheck(List.of("another answer"), told(), Set.of("order"), Set.of("two"), keys(), true))))
			.containsExactly(4);
	}

	@Test
	void findsALiveReservationThatTheShopDenies() {
		assertThat(broken(audit(new Recheck(List.of(), told(), Set.of("order"), Set.of("one"), keys(), true))))
			.containsExactly(4);
	}

	@Test
	void findsAPromisedOrderThatIsLost() {
		assertThat(broken(audit(new Recheck(List.of(), told(), Set.of("order", "lost"), Set.of("two"), keys(), true))))
			.containsExactly(4);
	}

	@Test
	void findsABuyerWhoGotNoneOfTheFreeUnits() {
		assertThat(broken(audit(recheck(false)))).containsExactly(6);
	}

	@Test
	void findsABuyerWhoWasNotDecidedAbout() {
		assertThat(broken(audit(recheck(null)))).containsExactly(6);
	}

	@Test
	void findsABuyerOfAUnitThatWasNotFree() {
		Findings soldOut = new Findings(List.of(), List.of(), List.of(), List.of(), List.of(ORDERED, ENDED), 0, true);
		assertThat(broken(new SaleAudit("item", soldOut, Optional.of(new GateView(0, 0)), recheck(true)).verdict()))
			.containsExactly(6);
	}

	@Test
	void findsAGateThatDoesNotKnowTheSale() {
		assertThat(broken(new SaleAudit("item", findings(true), Optional.empty(), recheck(true)).verdict()))
			.containsExactly(6);
	}

	@Test
	void waitsForAGateThatIsReconciledLater() {
		assertThat(
				new SaleAudit("item", findings(false), Optional.empty(), recheck(true)).verdict().lines().subList(3, 6))
			.allMatch((line) -> line.state() == State.WAITING);
	}

	@Test
	void waitsForARushOfThisProcess() {
		Verdict verdict = audit(null);
		assertThat(verdict.settled()).isFalse();
		assertThat(verdict.lines().stream().filter((line) -> line.state() == State.WAITING).map(Line::number))
			.containsExactly(4, 6);
		assertThat(verdict.lines().get(3).detail()).contains("no rush of this process");
	}

	private static Verdict audit(@Nullable Recheck recheck) {
		return new SaleAudit("item", findings(true), GATE, recheck).verdict();
	}

	private static Findings findings(boolean settled) {
		return new Findings(List.of(), List.of(), List.of(), List.of(), List.of(ORDERED, ENDED), 1, settled);
	}

	private static Recheck recheck(@Nullable Boolean sold) {
		return new Recheck(List.of(), told(), Set.of("order"), Set.of("two"), keys(), sold);
	}

	private static Map<String, String> told() {
		return Map.of("one", "ann", "two", "bob");
	}

	private static Map<String, Integer> keys() {
		return Map.of("ann", 1, "bob", 1);
	}

	private static List<Integer> broken(Verdict verdict) {
		return verdict.lines().stream().filter((line) -> line.state() == State.BROKEN).map(Line::number).toList();
	}

}
