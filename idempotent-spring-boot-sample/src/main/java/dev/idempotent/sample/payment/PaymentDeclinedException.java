package dev.idempotent.sample.payment;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * The gateway has declined the payment: 402, and the order stays unpaid.
 */
class PaymentDeclinedException extends ErrorResponseException {

	PaymentDeclinedException() {
		super(HttpStatus.PAYMENT_REQUIRED, ProblemDetail.forStatusAndDetail(HttpStatus.PAYMENT_REQUIRED,
				"The gateway declined this payment. Pay with another method, under a new key."), null);
	}

}
