package dev.idempotent.outbox.relay;

import java.util.function.BooleanSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a step as long as it is wanted, whatever the step throws: otherwise a worker
 * would stop unnoticed until the application is restarted.
 */
final class RepeatingTask implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RepeatingTask.class);

	private static final long PAUSE_MILLIS = 100;

	private final BooleanSupplier wanted;

	private final Step step;

	RepeatingTask(BooleanSupplier wanted, Step step) {
		this.wanted = wanted;
		this.step = step;
	}

	@Override
	public void run() {
		while (this.wanted.getAsBoolean()) {
			try {
				this.step.run();
			}
			// Memory that is short here may be there a moment later.
			catch (Throwable ex) {
				recover(ex);
			}
		}
	}

	private static void recover(Throwable failure) {
		try {
			if (!(failure instanceof InterruptedException)) {
				logger.error("A step of the outbox failed; what it held is delivered when the leases have ended",
						failure);
				Thread.sleep(PAUSE_MILLIS);
			}
		}
		catch (Throwable ex) {
			// There is no memory to say so, or a publisher has interrupted its thread.
		}
	}

	/**
	 * What to repeat.
	 */
	interface Step {

		void run() throws InterruptedException;

	}

}
