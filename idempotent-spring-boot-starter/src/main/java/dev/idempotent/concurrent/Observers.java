package dev.idempotent.concurrent;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.slf4j.Logger;

/**
 * Calls all observers. One that fails affects neither the others nor what it observes,
 * and does not fill the log.
 *
 * @param <T> the type of the observers
 */
public final class Observers<T> {

	private final List<T> observers;

	private final Logger logger;

	private final String subject;

	private final String consequence;

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Creates a group of observers.
	 * @param observers called in this order
	 * @param logger the logger of the component that is observed
	 * @param subject what one of them is, as the subject of a message
	 * @param consequence what happens nevertheless, as a clause of the message
	 */
	public Observers(List<? extends T> observers, Logger logger, String subject, String consequence) {
		this.observers = List.copyOf(observers);
		this.logger = logger;
		this.subject = subject;
		this.consequence = consequence;
	}

	/**
	 * Calls each observer.
	 * @param call what to call
	 */
	public void each(Consumer<? super T> call) {
		this.observers.forEach((observer) -> run(() -> call.accept(observer)));
	}

	/**
	 * Runs code of an observer that is not in the group, such as a scope that it has
	 * opened.
	 * @param call what to call
	 */
	public void run(Runnable call) {
		try {
			call.run();
		}
		// Also a library of the wrong version must not affect the work.
		catch (Throwable ex) {
			if (this.warned.compareAndSet(false, true)) {
				this.logger.warn("{} has failed with {}; {}. Further failures are logged at level DEBUG", this.subject,
						ex.getClass().getName(), this.consequence);
			}
			this.logger.debug("{} has failed", this.subject, ex);
		}
	}

}
