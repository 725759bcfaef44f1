package dev.idempotent.sample.rush;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.sample.rush.Findings.Reserved;
import dev.idempotent.sample.rush.Verdict.Line;
import dev.idempotent.sample.rush.Verdict.State;
import dev.idempotent.sample.stock.GateView;
import org.jspecify.annotations.Nullable;

/**
 * Judges a sale by its rows, its gate and what its users were told.
 *
 * @param item the item on sale
 * @param findings what the database says
 * @param gate what the gate says, if it knows the sale
 * @param recheck what the shop has answered after the rush, or {@code null} without one
 */
record SaleAudit(String item, Findings findings, Optional<GateView> gate, @Nullable Recheck recheck) {

	private static final int SHOWN = 3;

	private static final List<String> NOT_ASKED = List.of("no rush of this process has repeated its requests yet");

	/**
	 * Whether no hold, notification or correction of the gate is pending, or all of them
	 * have had the time to end.
	 */
	boolean isAtRest() {
		return this.findings.settled() || (this.findings.notifications().isEmpty() && stockProblems().isEmpty());
	}

	Verdict verdict() {
		return Verdict.of(this.item, List.of(
				line(1, "Each shelf counts its live reservations as taken, within its total", this.findings.shelves()),
				line(2, "Confirmed reservations and orders pair one to one", this.findings.orders()),
				line(3, "Each user's list has the user's live reservations, within the limit", this.findings.owners()),
				atRest(4,
						"Each request that got 201 gets it again, or a refusal after the end; one reservation for each key",
						answerProblems()),
				atRest(5, "Each order has one notification, if no published event was lost",
						this.findings.notifications()),
				atRest(6,
						"No hold is left, the gate knows the free units, and one more buyer gets a unit if one is free",
						saleProblems())));
	}

	private Line atRest(int number, String rule, List<String> problems) {
		if (problems == NOT_ASKED || !isAtRest()) {
			return new Line(number, rule, State.WAITING,
					(problems == NOT_ASKED) ? NOT_ASKED.get(0) : "the sale is not at rest");
		}
		return line(number, rule, problems);
	}

	private static Line line(int number, String rule, List<String> problems) {
		return problems.isEmpty() ? new Line(number, rule, State.HOLDS, "")
				: new Line(number, rule, State.BROKEN, describe(problems));
	}

	private static String describe(List<String> problems) {
		String shown = problems.stream().limit(SHOWN).collect(Collectors.joining("; "));
		return (problems.size() > SHOWN) ? shown + "; and " + (problems.size() - SHOWN) + " more" : shown;
	}

	private List<String> answerProblems() {
		Recheck recheck = this.recheck;
		if (recheck == null) {
			return NOT_ASKED;
		}
		List<String> problems = new ArrayList<>(recheck.problems());
		Map<String, Reserved> reserved = this.findings.reservations()
			.stream()
			.collect(Collectors.toMap(Reserved::reservationId, Function.identity()));
		recheck.told().forEach((id, owner) -> {
			Reserved row = reserved.get(id);
			if (row == null || !row.owner().equals(owner)) {
				problems.add(owner + " was told of a reservation that does not exist");
			}
			else if (recheck.ended().contains(id) && !row.state().equals("ENDED")) {
				problems.add("a reservation of " + owner + " is " + row.state() + ", and the shop denies it");
			}
		});
		Set<String> lost = new HashSet<>(recheck.orders());
		reserved.values().forEach((row) -> lost.remove(row.orderId()));
		lost.forEach((order) -> problems.add("order " + order + " was promised, and no reservation has it"));
		this.findings.reservations()
			.stream()
			.collect(Collectors.groupingBy(Reserved::owner, Collectors.counting()))
			.forEach((owner, count) -> {
				int keys = recheck.keys().getOrDefault(owner, 0);
				if (count > keys) {
					problems.add("%s has %d reservations for %d keys".formatted(owner, count, keys));
				}
			});
		return problems;
	}

	private List<String> saleProblems() {
		List<String> problems = stockProblems();
		if (!problems.isEmpty()) {
			return problems;
		}
		if (this.recheck == null) {
			return NOT_ASKED;
		}
		Boolean sold = this.recheck.sold();
		if (sold == null) {
			return List.of("one more buyer got no answer");
		}
		return (sold == this.findings.free() > 0) ? List.of() : List
			.of("one more buyer got %s unit, and %d are free".formatted(sold ? "a" : "no", this.findings.free()));
	}

	private List<String> stockProblems() {
		List<String> problems = new ArrayList<>();
		long held = this.findings.reservations().stream().filter((row) -> row.state().equals("HELD")).count();
		if (held > 0) {
			problems.add(held + " units are held");
		}
		this.gate.map(GateView::units).ifPresentOrElse((units) -> {
			if (units != this.findings.free()) {
				problems.add("the gate has %d free units, the database %d".formatted(units, this.findings.free()));
			}
		}, () -> problems.add("the gate does not know the sale"));
		return problems;
	}

}
