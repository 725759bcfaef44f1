package dev.idempotent.sample.stock;

import java.util.List;
import java.util.Optional;

import org.springframework.stereotype.Repository;

/**
 * The stock in PostgreSQL, which decides about each unit.
 */
@Repository
public class StockLedger {

	/**
	 * Opens a sale in the caller's transaction.
	 * @return whether the item had no sale yet
	 */
	public boolean open(FlashSale sale) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the units of a sale, or nothing if the item has none.
	 */
	public Optional<StockView> view(String item) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns the items that are on sale.
	 */
	List<String> items() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns what is committed about a sale, as one statement sees it, or nothing if the
	 * item has none.
	 * @param allOwners whether to return all owners with live reservations, or only those
	 * who have changed within the last minute
	 */
	Optional<StockFacts> facts(String item, boolean allOwners) {
		throw new UnsupportedOperationException();
	}

}
