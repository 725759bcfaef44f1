package dev.idempotent.autoconfigure.operations;

/**
 * A request to an endpoint that is answered with a status other than 200.
 */
final class RefusedOperationException extends RuntimeException {

	private final int status;

	private final String problem;

	private final String action;

	/**
	 * Creates an exception.
	 * @param status the status of the response
	 * @param problem what is wrong, without values from the request
	 * @param action what to do
	 */
	RefusedOperationException(int status, String problem, String action) {
		super(problem);
		this.status = status;
		this.problem = problem;
		this.action = action;
	}

	int status() {
		return this.status;
	}

	@Override
	public String getMessage() {
		return this.problem;
	}

	String action() {
		return this.action;
	}

}
