package dev.idempotent.outbox.relay;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import dev.idempotent.work.OutageLog;
import org.slf4j.LoggerFactory;

/**
 * Logs an outage of the store once for all workers. Only a worker whose last step failed
 * can end it: the steps of others may not have used the store.
 */
final class StoreFailureLog {

	private final OutageLog outage = new OutageLog(LoggerFactory.getLogger(StoreFailureLog.class),
			"The outbox cannot be read; events are delivered when it can be read again",
			"The outbox can be read again");

	private final AtomicInteger failing = new AtomicInteger();

	/**
	 * Returns the log of one worker.
	 */
	Worker worker() {
		return new Worker(this);
	}

	/**
	 * The log of one worker.
	 */
	static final class Worker {

		private final StoreFailureLog all;

		private boolean failing;

		private Worker(StoreFailureLog all) {
			this.all = all;
		}

		/**
		 * Runs a step that may use the store.
		 * @return the result of the step, or {@code false} if it fails
		 */
		boolean attempt(BooleanSupplier step) {
			long start = System.nanoTime();
			try {
				boolean result = step.getAsBoolean();
				recovered(start);
				return result;
			}
			catch (RuntimeException ex) {
				failed(start, ex);
				return false;
			}
		}

		boolean isFailing() {
			return this.failing;
		}

		private void failed(long start, RuntimeException failure) {
			if (!this.failing) {
				this.failing = true;
				this.all.failing.incrementAndGet();
			}
			this.all.outage.failed(start, failure);
		}

		private void recovered(long start) {
			if (this.failing) {
				this.failing = false;
				if (this.all.failing.decrementAndGet() == 0) {
					this.all.outage.succeeded(start);
				}
			}
		}

	}

}
