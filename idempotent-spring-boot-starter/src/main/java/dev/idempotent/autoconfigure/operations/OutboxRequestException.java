package dev.idempotent.autoconfigure.operations;

/**
 * An invalid request to the outbox endpoint.
 */
final class OutboxRequestException extends RuntimeException {

	private final String problem;

	private final String action;

	/**
	 * Creates an exception.
	 * @param problem what is wrong, without values from the request
	 * @param action how to correct it
	 */
	OutboxRequestException(String problem, String action) {
		super(problem);
		this.problem = problem;
		this.action = action;
	}

	@Override
	public String getMessage() {
		return this.problem;
	}

	String action() {
		return this.action;
	}

}
