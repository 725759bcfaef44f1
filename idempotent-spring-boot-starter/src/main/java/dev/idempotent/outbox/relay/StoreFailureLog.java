package dev.idempotent.outbox.relay;

import java.util.function.BooleanSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs once that the store fails, and once that it has recovered.
 */
final class StoreFailureLog {

	private static final Logger logger = LoggerFactory.getLogger(StoreFailureLog.class);

	private boolean failing;

	/**
	 * Runs a step that uses the store.
	 * @return the result of the step, or {@code false} if it fails
	 */
	boolean attempt(BooleanSupplier step) {
		try {
			boolean result = step.getAsBoolean();
			if (this.failing) {
				logger.info("The outbox can be read again");
			}
			this.failing = false;
			return result;
		}
		catch (RuntimeException ex) {
			if (!this.failing) {
				logger.warn("The outbox cannot be read; retrying", ex);
			}
			this.failing = true;
			return false;
		}
	}

	boolean isFailing() {
		return this.failing;
	}

}
