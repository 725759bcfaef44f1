package dev.idempotent.idempotency.claim;

import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once of each outage that the database which has the last word does not answer.
 */
final class DatabaseOutage {

	private static final Logger logger = LoggerFactory.getLogger(DatabaseOutage.class);

	private final AtomicBoolean noted = new AtomicBoolean();

	void note(IdempotencyStoreUnavailableException ex) {
		if (this.noted.compareAndSet(false, true)) {
			logger.warn("The database does not answer; until it does, requests under Guarantee.TRANSACTION are "
					+ "refused with 503", ex);
		}
	}

	void end() {
		if (this.noted.get() && this.noted.compareAndSet(true, false)) {
			logger.info("The database answers again");
		}
	}

}
