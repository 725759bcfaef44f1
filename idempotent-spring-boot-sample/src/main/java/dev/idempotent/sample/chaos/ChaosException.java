package dev.idempotent.sample.chaos;

/**
 * The failure that a client has asked for: an unhandled exception, answered with 500.
 */
class ChaosException extends RuntimeException {

	ChaosException(String message) {
		super(message);
	}

}
