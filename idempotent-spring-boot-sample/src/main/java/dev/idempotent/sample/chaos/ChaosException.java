package dev.idempotent.sample.chaos;

/**
 * The failure that a client has asked for: an exception that nobody handles, 500.
 */
class ChaosException extends RuntimeException {

	ChaosException(String message) {
		super(message);
	}

}
