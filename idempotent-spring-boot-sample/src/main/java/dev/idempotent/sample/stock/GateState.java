package dev.idempotent.sample.stock;

import java.util.Map;
import java.util.Optional;

/**
 * The state of a gate, as one script has read it.
 *
 * @param tickets the number of tickets
 * @param fields the fields of the shelves. Incomplete if the gate is damaged
 */
record GateState(int tickets, Map<String, String> fields) {

	/**
	 * Returns what the gate knows, or nothing if it is damaged such that it admits no
	 * request.
	 */
	Optional<GateView> view() {
		try {
			number("limit");
			return Optional.of(new GateView((int) number("units"), this.tickets));
		}
		catch (NumberFormatException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Returns whether the gate cannot be the result of what the ledger has committed, up
	 * to facts that were read after this state.
	 */
	boolean contradicts(StockFacts facts) {
		try {
			long units = 0;
			for (StockFacts.Shelf shelf : facts.shelves()) {
				long version = number("v" + shelf.number());
				long free = number("f" + shelf.number());
				if (version > shelf.version() || (version == shelf.version() && free != shelf.free())) {
					return true;
				}
				units += free;
			}
			return number("units") != units || number("limit") != facts.perUser()
					|| this.fields.size() != 2 + 2 * facts.shelves().size();
		}
		catch (NumberFormatException ex) {
			return true;
		}
	}

	private long number(String field) {
		return Long.parseLong(this.fields.getOrDefault(field, ""));
	}

}
