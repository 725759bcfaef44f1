package dev.idempotent.sample.checkout;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.Ordered;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Slows a checkout down at each of its moments, so that it can be watched, and lets the
 * process crash at the one that the client has chosen. Depends on the stored request
 * only: a saga is run without a web request.
 */
@Component
class Moments {

	private final Crashes crashes;

	Moments(ObjectProvider<Crashes> crashes) {
		this.crashes = crashes.getIfAvailable(() -> (moment, command) -> {
		});
	}

	void reach(Moment moment, PlaceCheckout command) {
		watch(command);
		this.crashes.reached(moment, command);
	}

	/**
	 * Reaches {@link Moment#BEFORE_COMMIT} when everything is written, the journal
	 * included.
	 */
	void reachCommit(PlaceCheckout command) {
		watch(command);
		TransactionSynchronizationManager.registerSynchronization(new BeforeCommit(this.crashes, command));
	}

	private static void watch(PlaceCheckout command) {
		Integer delay = command.delay();
		try {
			Thread.sleep((delay != null) ? delay : 0);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted: the application stops", ex);
		}
	}

	private record BeforeCommit(Crashes crashes, PlaceCheckout command) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			this.crashes.reached(Moment.BEFORE_COMMIT, this.command);
		}

	}

}
