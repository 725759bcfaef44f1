package dev.idempotent.outbox;

/**
 * Thrown when an event cannot be appended because the calling thread has no suitable
 * transaction. The message says why and what to do.
 */
public class OutboxTransactionException extends IllegalStateException {

	/**
	 * Creates an exception.
	 * @param message the problem and its solution
	 */
	public OutboxTransactionException(String message) {
		super(message);
	}

}
