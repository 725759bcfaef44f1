package dev.idempotent.autoconfigure.operations;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * A request to an endpoint that is answered with a status other than 200.
 */
final class RefusedOperationException extends RuntimeException {

	private static final int CONFLICT = 409;

	private final int status;

	private final Problem problem;

	/**
	 * Creates an exception.
	 * @param status the status of the response
	 * @param problem what is wrong, without values from the request
	 * @param action what to do
	 */
	RefusedOperationException(int status, String problem, String action) {
		super(problem);
		this.status = status;
		this.problem = new Problem(problem, action);
	}

	static RefusedOperationException invalid(String problem, String action) {
		return new RefusedOperationException(WebEndpointResponse.STATUS_BAD_REQUEST, problem, action);
	}

	static RefusedOperationException absent(String problem, String action) {
		return new RefusedOperationException(WebEndpointResponse.STATUS_NOT_FOUND, problem, action);
	}

	static RefusedOperationException conflict(String problem, String action) {
		return new RefusedOperationException(CONFLICT, problem, action);
	}

	WebEndpointResponse<Problem> toResponse() {
		return new WebEndpointResponse<>(this.problem, this.status);
	}

	/**
	 * The body of the response.
	 *
	 * @param problem what is wrong
	 * @param action what to do
	 */
	record Problem(String problem, String action) {
	}

}
