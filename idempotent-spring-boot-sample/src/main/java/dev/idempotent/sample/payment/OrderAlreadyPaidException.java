package dev.idempotent.sample.payment;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * The order has been paid, with another key: 409.
 */
class OrderAlreadyPaidException extends ErrorResponseException {

	OrderAlreadyPaidException() {
		super(HttpStatus.CONFLICT, ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT,
				"This order has been paid. Nothing more is due and nothing was charged."), null);
	}

}
