package dev.idempotent.sample.stock;

import org.springframework.stereotype.Component;

/**
 * Compares the gate with the ledger, and corrects the gate.
 */
@Component
public class Reconciler {

	/**
	 * Loads the gate of a sale unless it knows the sale. Does nothing if the item has
	 * none.
	 * @return whether the item is on sale
	 */
	public boolean warm(String item) {
		throw new UnsupportedOperationException();
	}

}
