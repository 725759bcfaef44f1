package dev.idempotent.outbox.relay;

import java.util.function.BooleanSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a step while a condition holds. Continues after any exception or error of the
 * step, which would otherwise end its thread unnoticed.
 */
final class RepeatingTask implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RepeatingTask.class);

	private static final long PAUSE_MILLIS = 100;

	private final BooleanSupplier condition;

	private final Step step;

	RepeatingTask(BooleanSupplier condition, Step step) {
		this.condition = condition;
		this.step = step;
	}

	@Override
	public void run() {
		while (this.condition.getAsBoolean()) {
			try {
				this.step.run();
			}
			// Errors such as a full heap may be temporary.
			catch (Throwable ex) {
				recover(ex);
			}
		}
	}

	private static void recover(Throwable failure) {
		try {
			if (!(failure instanceof InterruptedException)) {
				logger.error("An outbox worker failed; its events are delivered once their leases end", failure);
				Thread.sleep(PAUSE_MILLIS);
			}
		}
		catch (Throwable ex) {
			// Logging failed for lack of memory, or a publisher interrupted the thread.
		}
	}

	/**
	 * The step to repeat.
	 */
	interface Step {

		void run() throws InterruptedException;

	}

}
