package dev.idempotent.sample.stock;

import java.util.Optional;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Ends reservations that have expired. Any number of instances may do so: a reservation
 * ends once.
 */
@Component
class ExpirySweeper {

	private static final Logger logger = LoggerFactory.getLogger(ExpirySweeper.class);

	private final StockLedger ledger;

	private final Reservations reservations;

	ExpirySweeper(StockLedger ledger, Reservations reservations) {
		this.ledger = ledger;
		this.reservations = reservations;
	}

	@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.SECONDS)
	void sweep() {
		boolean telling = true;
		try {
			for (String reservationId : this.ledger.expired(1000)) {
				Optional<StockChange> change = this.reservations.end(reservationId);
				// Each attempt to reach an unavailable Redis takes time.
				telling = telling && change.map(this.reservations::tell).orElse(true);
			}
		}
		catch (DataAccessException | TransactionException ex) {
			logger.warn("Expired reservations could not be ended. They are tried again in a second", ex);
		}
	}

}
