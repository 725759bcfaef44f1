package dev.idempotent.sample.sale;

import org.springframework.web.ErrorResponseException;

/**
 * The sale refuses a request. Has no stack trace, because most requests to a sale are
 * refused.
 */
class SaleRefusedException extends ErrorResponseException {

	SaleRefusedException(Refusal refusal) {
		super(refusal.status(), refusal.problem(), null);
	}

	@Override
	public synchronized Throwable fillInStackTrace() {
		return this;
	}

}
