package dev.idempotent.idempotency.web;

import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

/**
 * Renders the problems that this library reports to clients. A bean of this type replaces
 * the default, which is {@code application/problem+json}, for example by the error format
 * of a public API.
 */
@FunctionalInterface
public interface ProblemRenderer {

	/**
	 * Renders a problem. If it throws, or returns no status from 400 on, the default is
	 * sent. What it returns may be stored, and is then the response to each retry.
	 * @param problem the problem: its type ends with its name, such as
	 * {@code in-progress}; its detail says what was done and what to do next; its
	 * instance identifies it in the log; its property {@code retryable} is a
	 * {@link Boolean}, whether the same request, sent again with the same key, can
	 * succeed
	 * @return status, headers and text of the response; the header {@code Retry-After} is
	 * added if the problem is retryable
	 */
	ResponseEntity<String> render(ProblemDetail problem);

}
