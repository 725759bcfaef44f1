package dev.idempotent.sample.stock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * Compares the gate with the ledger, and corrects the gate.
 */
@Component
public class Reconciler {

	private static final Logger logger = LoggerFactory.getLogger(Reconciler.class);

	private final StockGate gate;

	private final StockLedger ledger;

	/**
	 * One lock per item, as long as there is memory: two loads of a gate do no harm.
	 */
	private final ConcurrentMap<String, Lock> loading = new ConcurrentReferenceHashMap<>();

	Reconciler(StockGate gate, StockLedger ledger) {
		this.gate = gate;
		this.ledger = ledger;
	}

	/**
	 * Loads the gate of a sale unless it knows the sale. Does nothing if the item has
	 * none. One caller at a time loads a gate; others wait for at most 2 s.
	 * @return whether the item is on sale
	 * @throws DataAccessException if Redis or the database fails or is too slow
	 */
	public boolean warm(String item) {
		Lock lock = this.loading.computeIfAbsent(item, (key) -> new ReentrantLock());
		if (!isAcquired(lock)) {
			throw new TransientDataAccessResourceException("Another request loads the gate. Try again");
		}
		try {
			return this.gate.view(item).isPresent() || reconcile(item) != Correction.NOT_ON_SALE;
		}
		finally {
			lock.unlock();
		}
	}

	private static boolean isAcquired(Lock lock) {
		try {
			return lock.tryLock(2, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/**
	 * Corrects the gates of all sales: at the start, and every 5 s. A failure ends the
	 * pass, because each attempt to reach an unavailable Redis takes time. The order is
	 * random, so that one gate does not keep the others from being corrected.
	 */
	@Scheduled(fixedDelay = 5, timeUnit = TimeUnit.SECONDS)
	void reconcile() {
		try {
			List<String> items = new ArrayList<>(this.ledger.items());
			Collections.shuffle(items);
			items.forEach(this::reconcile);
		}
		catch (DataAccessException ex) {
			logger.warn("The gates were not compared with the ledger. They are compared again in 5 s", ex);
		}
	}

	/**
	 * Corrects the gate of a sale. Reads the gate before the ledger, so that the ledger
	 * has committed all that a correct gate knows.
	 */
	Correction reconcile(String item) {
		Optional<GateState> state = this.gate.read(item);
		StockFacts facts = this.ledger.facts(item, state.isEmpty()).orElse(null);
		if (facts == null) {
			return Correction.NOT_ON_SALE;
		}
		if (state.isEmpty()) {
			this.gate.load(item, facts);
			return Correction.LOADED;
		}
		if (state.get().contradicts(facts)) {
			logger.warn("The gate {} contradicts the ledger and is replaced.", StockGate.keys(item).get(0));
			this.ledger.facts(item, true).ifPresent((all) -> this.gate.reset(item, all));
			return Correction.RESET;
		}
		this.gate.tell(item, null, facts);
		return Correction.TOLD;
	}

	/**
	 * What {@link #reconcile(String)} has done to a gate.
	 */
	enum Correction {

		/**
		 * Nothing, because the item has no sale.
		 */
		NOT_ON_SALE,

		/**
		 * It has loaded the gate, which did not know the sale.
		 */
		LOADED,

		/**
		 * It has told the gate what is committed.
		 */
		TOLD,

		/**
		 * It has replaced a gate that contradicted the ledger.
		 */
		RESET

	}

}
