package dev.idempotent.outbox.courier;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for events that are due until told to stop: at once while there are some, then
 * ever more seldom.
 */
final class BacklogWorker implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(BacklogWorker.class);

	private final Backlog backlog;

	private final WakeUp wakeUp;

	private final CourierSettings settings;

	private final BooleanSupplier running;

	private boolean failing;

	BacklogWorker(Backlog backlog, WakeUp wakeUp, CourierSettings settings, BooleanSupplier running) {
		this.backlog = backlog;
		this.wakeUp = wakeUp;
		this.settings = settings;
		this.running = running;
	}

	@Override
	public void run() {
		Duration wait = this.settings.poll();
		try {
			while (this.running.getAsBoolean()) {
				if (deliver() || this.wakeUp.await(wait)) {
					wait = this.settings.poll();
				}
				else {
					Duration doubled = wait.multipliedBy(2);
					wait = (doubled.compareTo(this.settings.idlePoll()) < 0) ? doubled : this.settings.idlePoll();
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean deliver() {
		try {
			boolean more = this.backlog.deliver();
			if (this.failing) {
				logger.info("The outbox is read again");
			}
			this.failing = false;
			return more;
		}
		// An error that ended this thread would end all deliveries for good.
		catch (RuntimeException | Error ex) {
			if (!this.failing) {
				logger.warn("The outbox cannot be read; trying again", ex);
			}
			this.failing = true;
			return false;
		}
	}

}
