package dev.idempotent.sample.chaos;

/**
 * The failure that a client has requested. It has no handler, so the status is 500.
 */
class ChaosException extends RuntimeException {

	ChaosException(String message) {
		super(message);
	}

}
