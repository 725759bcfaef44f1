package dev.idempotent.outbox;

/**
 * The calling thread is in no transaction that could take an event. It says why, and what
 * to do.
 */
public class OutboxTransactionException extends IllegalStateException {

	/**
	 * Creates an exception.
	 * @param message what is wrong with the transaction and how to mend it
	 */
	public OutboxTransactionException(String message) {
		super(message);
	}

}
