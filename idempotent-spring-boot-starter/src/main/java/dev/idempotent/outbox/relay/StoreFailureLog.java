package dev.idempotent.outbox.relay;

import java.util.function.BooleanSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once that the store fails, and once that it does so no more.
 */
final class StoreFailureLog {

	private static final Logger logger = LoggerFactory.getLogger(StoreFailureLog.class);

	private boolean failing;

	/**
	 * Takes a step that reads the store.
	 * @return what the step returns, or {@code false} if it fails
	 */
	boolean attempt(BooleanSupplier step) {
		try {
			boolean result = step.getAsBoolean();
			if (this.failing) {
				logger.info("The outbox is read again");
			}
			this.failing = false;
			return result;
		}
		catch (RuntimeException ex) {
			if (!this.failing) {
				logger.warn("The outbox cannot be read; trying again", ex);
			}
			this.failing = true;
			return false;
		}
	}

	boolean isFailing() {
		return this.failing;
	}

}
