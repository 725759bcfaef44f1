package dev.idempotent.sample.chaos;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * The header {@code X-Chaos} is invalid: 400.
 */
class BadChaosException extends ErrorResponseException {

	BadChaosException() {
		super(HttpStatus.BAD_REQUEST,
				ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST,
						"X-Chaos takes delay=<0 to 60000 ms>, fail=before-commit or after-commit, and halt=in-handler, "
								+ "before-commit, after-commit or before-complete, comma-separated."),
				null);
	}

}
