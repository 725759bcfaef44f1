package dev.idempotent.sample.stock;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * The gate in Redis, which decides who may ask the ledger for a unit. It may be wrong or
 * empty: then requests are refused or let through that should not be, and the ledger
 * decides.
 */
@Component
public class StockGate {

	/**
	 * Returns what the gate knows of a sale, or nothing if it does not know it.
	 */
	public Optional<GateView> view(String item) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Admits the request with the given id, or refuses it.
	 */
	Admission admit(String item, String reservationId, String owner) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Tells the gate what was committed, and ends the ticket of a request. Does nothing
	 * if the gate does not know the sale; older facts than it has are ignored.
	 */
	void tell(String item, @Nullable String reservationId, StockFacts facts) {
		throw new UnsupportedOperationException();
	}

}
