package dev.idempotent.sample.rush;

import java.util.Optional;
import java.util.function.Function;

import dev.idempotent.sample.stock.GateView;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/**
 * Collects what is known of a sale.
 */
final class SaleAuditor {

	private final SaleSnapshot snapshot;

	private final Function<String, Optional<GateView>> gate;

	SaleAuditor(SaleSnapshot snapshot, Function<String, Optional<GateView>> gate) {
		this.snapshot = snapshot;
		this.gate = gate;
	}

	/**
	 * Returns the current state of a sale.
	 * @param recheck the answers after a rush, or {@code null} without one
	 */
	SaleAudit audit(String item, @Nullable Recheck recheck) {
		return new SaleAudit(item, this.snapshot.take(item), view(item), recheck);
	}

	private Optional<GateView> view(String item) {
		try {
			return this.gate.apply(item);
		}
		catch (DataAccessException ex) {
			// Redis is not available, which does not decide about a unit.
			return Optional.empty();
		}
	}

}
