package dev.idempotent.idempotency.web;

/**
 * A request that cannot be claimed as it was sent.
 */
@SuppressWarnings("serial")
final class RefusedRequestException extends RuntimeException {

	private final Problem problem;

	private final String detail;

	/**
	 * Creates an exception.
	 * @param problem the kind of problem
	 * @param detail what happened and what to do, without data that the client sent
	 */
	RefusedRequestException(Problem problem, String detail) {
		super(detail, null, false, false);
		this.problem = problem;
		this.detail = detail;
	}

	String detail() {
		return this.detail;
	}

	Problem problem() {
		return this.problem;
	}

}
