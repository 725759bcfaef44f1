package dev.idempotent.autoconfigure.outbox;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.transaction.TransactionGuard;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Whether the application uses its outbox. An unused outbox is off: it has no thread, no
 * transaction listener and no meters, and reads no table. Once on, it stays on.
 */
public final class OutboxActivation implements BeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(OutboxActivation.class);

	private final List<Runnable> actions = new ArrayList<>();

	private @Nullable String reason;

	private boolean reported;

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof ConfigurableTransactionManager manager) {
			whenActive(() -> TransactionGuard.watch(manager));
		}
		else if (bean instanceof Outbox) {
			activate("the Outbox has been requested");
		}
		return bean;
	}

	/**
	 * Switches the outbox on. Can be repeated; the first reason is the one that is
	 * logged.
	 * @param cause why, as a clause
	 */
	void activate(String cause) {
		List<Runnable> due;
		synchronized (this) {
			if (this.reason != null) {
				return;
			}
			this.reason = cause;
			due = List.copyOf(this.actions);
			this.actions.clear();
		}
		// Not under the lock: an action may create beans.
		due.forEach(Runnable::run);
		if (isReported()) {
			logger.info("Outbox: switched on, because {}", cause);
		}
	}

	/**
	 * Whether the outbox is on.
	 * @return {@code false} for an outbox that nothing has used yet
	 */
	public synchronized boolean isActive() {
		return this.reason != null;
	}

	/**
	 * Runs an action when the outbox is switched on, or now if it is on.
	 * @param action runs once, on the thread that switches the outbox on
	 */
	public void whenActive(Runnable action) {
		synchronized (this) {
			if (this.reason == null) {
				this.actions.add(action);
				return;
			}
		}
		action.run();
	}

	/**
	 * Logs whether the outbox is on, after startup.
	 * @param relay what the relay of this process serves, as a clause
	 */
	void report(String relay) {
		String cause;
		synchronized (this) {
			this.reported = true;
			cause = this.reason;
		}
		if (cause != null) {
			logger.info("Outbox: on, because {}; {}", cause, relay);
		}
		else {
			logger.info(
					"Outbox: off, because there is no @TransactionalOutbox method, no @OutboxHandler method, no bean has "
							+ "requested the Outbox, and idempotent.outbox.relay.enabled is not true");
		}
	}

	private synchronized boolean isReported() {
		return this.reported;
	}

}
