package dev.idempotent.sample.stock;

import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * An attempt to take a unit.
 *
 * @param outcome what happened
 * @param change the unit that was taken, or {@code null} if none was
 */
record Attempt(Outcome outcome, @Nullable StockChange change) {

	static Attempt refused(Outcome reason) {
		return new Attempt(reason, null);
	}

}
