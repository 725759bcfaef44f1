package dev.idempotent.sample.sale;

import dev.idempotent.sample.stock.GateView;
import dev.idempotent.sample.stock.StockView;
import org.jspecify.annotations.Nullable;

/**
 * A sale as the shop shows it.
 *
 * @param gate what the gate knows, or {@code null} if it does not know the sale or is
 * unreachable
 */
record SaleView(String item, int stock, int perUser, int free, int held, int confirmed, @Nullable GateView gate) {

	static SaleView of(StockView units, @Nullable GateView gate) {
		return new SaleView(units.sale().item(), units.sale().stock(), units.sale().perUser(), units.free(),
				units.held(), units.confirmed(), gate);
	}

}
