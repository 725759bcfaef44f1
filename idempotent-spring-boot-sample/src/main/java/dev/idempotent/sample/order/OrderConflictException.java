package dev.idempotent.sample.order;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * The order has a status that the requested one may not follow, because another request
 * has moved it, or none has yet: 409. The client learns the status.
 */
class OrderConflictException extends ErrorResponseException {

	OrderConflictException(OrderStatus status, OrderStatus requested) {
		super(HttpStatus.CONFLICT, problem(status, requested), null);
	}

	private static ProblemDetail problem(OrderStatus status, OrderStatus requested) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT,
				"This order is %s and cannot become %s. Nothing was changed or charged.".formatted(status, requested));
		problem.setProperty("orderStatus", status);
		return problem;
	}

}
