package dev.idempotent.sample.stock;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A simple model of the gate.
 */
class GateModel {

	private final Map<Integer, StockFacts.Shelf> shelves = new HashMap<>();

	private final Map<String, StockFacts.Owner> owners = new HashMap<>();

	private final Set<String> toldLately = new HashSet<>();

	private final Map<String, Boolean> overdueByTicket = new HashMap<>();

	private int perUser;

	Admission admit(String id, String owner) {
		if (this.shelves.isEmpty()) {
			return Admission.ABSENT;
		}
		List<String> ids = this.owners.containsKey(owner) ? this.owners.get(owner).reservationIds() : List.of();
		if (this.overdueByTicket.containsKey(id) || ids.contains(id)) {
			return Admission.GO;
		}
		if (ids.size() >= this.perUser && this.toldLately.contains(owner)) {
			return Admission.LIMIT;
		}
		if (units() - this.overdueByTicket.values().stream().filter((overdue) -> !overdue).count() < 1) {
			return Admission.SOLD_OUT;
		}
		this.overdueByTicket.put(id, false);
		return Admission.GO;
	}

	void tell(String id, StockFacts facts) {
		if (!this.shelves.isEmpty()) {
			load(id, facts);
		}
	}

	void load(String id, StockFacts facts) {
		this.perUser = facts.perUser();
		this.overdueByTicket.remove(id);
		facts.shelves()
			.forEach((shelf) -> this.shelves.merge(shelf.number(), shelf,
					(known, told) -> (told.version() > known.version()) ? told : known));
		for (StockFacts.Owner owner : facts.owners()) {
			StockFacts.Owner known = this.owners.get(owner.owner());
			if (known == null || owner.version() >= known.version()) {
				this.owners.put(owner.owner(), owner);
				this.toldLately.add(owner.owner());
				owner.reservationIds().forEach(this.overdueByTicket::remove);
			}
		}
	}

	void reset(StockFacts facts) {
		this.shelves.clear();
		this.owners.clear();
		load("", facts);
	}

	void wipe() {
		this.shelves.clear();
		this.owners.clear();
		this.overdueByTicket.clear();
	}

	/**
	 * A minute passes: all tickets are overdue, and all owners were told long ago.
	 */
	void age() {
		this.overdueByTicket.replaceAll((id, overdue) -> true);
		this.toldLately.clear();
	}

	GateView view() {
		return new GateView(units(), this.overdueByTicket.size());
	}

	boolean isAbsent() {
		return this.shelves.isEmpty();
	}

	private int units() {
		return this.shelves.values().stream().mapToInt(StockFacts.Shelf::free).sum();
	}

}
