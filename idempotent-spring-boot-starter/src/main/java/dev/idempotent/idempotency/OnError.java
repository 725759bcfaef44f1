package dev.idempotent.idempotency;

/**
 * How to settle a key whose work ends in a server error.
 */
public enum OnError {

	/**
	 * The key is released: a retry runs again and repeats what was committed before the
	 * error.
	 */
	RELEASE,

	/**
	 * The error is stored as the response: every retry gets it.
	 */
	KEEP

}
