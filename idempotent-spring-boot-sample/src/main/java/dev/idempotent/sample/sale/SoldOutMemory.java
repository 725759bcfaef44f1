package dev.idempotent.sample.sale;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

import dev.idempotent.sample.stock.GateView;
import dev.idempotent.sample.stock.StockGate;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * Remembers for half a second which items are sold out, so that a crowd at the door costs
 * nothing. It does not answer requests for a unit: it cannot tell a new buyer from one
 * who has a unit and has not received the response.
 */
@Component
class SoldOutMemory {

	private static final long MAX_AGE = Duration.ofMillis(500).toNanos();

	private static final long REFRESH_AFTER = MAX_AGE / 2;

	private final Function<String, Optional<GateView>> gate;

	private final LongSupplier nanoTime;

	private final Map<String, Look> looks = new ConcurrentHashMap<>();

	private final ReentrantLock looking = new ReentrantLock();

	@Autowired
	SoldOutMemory(StockGate gate) {
		this(gate::view, System::nanoTime);
	}

	SoldOutMemory(Function<String, Optional<GateView>> gate, LongSupplier nanoTime) {
		this.gate = gate;
		this.nanoTime = nanoTime;
	}

	/**
	 * Whether no unit was free at some time within the last half second. One caller at a
	 * time asks the gate; the others get what is remembered.
	 */
	boolean isSoldOut(String item) {
		long now = this.nanoTime.getAsLong();
		Look last = this.looks.get(item);
		if ((last == null || last.isOlder(REFRESH_AFTER, now)) && this.looking.tryLock()) {
			try {
				look(item, now);
			}
			finally {
				this.looking.unlock();
			}
		}
		last = this.looks.get(item);
		return last != null && last.soldOut() && !last.isOlder(MAX_AGE, now);
	}

	private void look(String item, long now) {
		try {
			// Only items with a gate are remembered, so that invented ones use no memory.
			this.gate.apply(item).ifPresent((view) -> this.looks.put(item, new Look(view.units() < 1, now)));
		}
		catch (DataAccessException ex) {
			// The door stays open. A request for a unit gets 503.
		}
	}

	private record Look(boolean soldOut, long at) {

		boolean isOlder(long age, long now) {
			return now - this.at > age;
		}

	}

}
