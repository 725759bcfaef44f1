package dev.idempotent.sample.order;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * No order has the requested id: 404.
 */
class UnknownOrderException extends ErrorResponseException {

	UnknownOrderException() {
		super(HttpStatus.NOT_FOUND,
				ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, "No order has this id. Place one first."), null);
	}

}
