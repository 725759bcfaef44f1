package dev.idempotent.sample.servers;

/**
 * An embedded server did not start. Contains what to do.
 */
class EmbeddedServerException extends RuntimeException {

	private final String action;

	EmbeddedServerException(String message, String action) {
		super(message);
		this.action = action;
	}

	EmbeddedServerException(String message, String action, Throwable cause) {
		super(message, cause);
		this.action = action;
	}

	String action() {
		return this.action;
	}

}
