package dev.idempotent.idempotency;

/**
 * What becomes of a key when its work ends in an error of the server.
 */
public enum OnError {

	/**
	 * The key is freed: a retry runs again, and does again what had been committed.
	 */
	RELEASE,

	/**
	 * The error is the answer: every retry gets it.
	 */
	KEEP

}
