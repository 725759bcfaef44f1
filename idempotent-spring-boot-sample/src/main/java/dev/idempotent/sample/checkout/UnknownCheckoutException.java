package dev.idempotent.sample.checkout;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * No checkout has the requested id: 404.
 */
class UnknownCheckoutException extends ErrorResponseException {

	UnknownCheckoutException() {
		super(HttpStatus.NOT_FOUND,
				ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, "No checkout has this id. Start one first."),
				null);
	}

}
