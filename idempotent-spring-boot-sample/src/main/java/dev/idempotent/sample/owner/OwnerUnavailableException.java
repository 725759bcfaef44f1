package dev.idempotent.sample.owner;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * No second JVM can take a checkout.
 */
class OwnerUnavailableException extends ErrorResponseException {

	private OwnerUnavailableException(HttpStatus status, String detail) {
		super(status, ProblemDetail.forStatusAndDetail(status, detail), null);
	}

	static OwnerUnavailableException noSingleRedis() {
		return new OwnerUnavailableException(HttpStatus.CONFLICT,
				"A second JVM is started for a single Redis server only, not for a cluster or Sentinel.");
	}

	static OwnerUnavailableException busy() {
		return new OwnerUnavailableException(HttpStatus.SERVICE_UNAVAILABLE,
				"The second JVMs are busy. Try again in a minute.");
	}

	static OwnerUnavailableException notReady() {
		return new OwnerUnavailableException(HttpStatus.SERVICE_UNAVAILABLE,
				"The second JVM did not start. The log shows why, with logging.level.dev.idempotent.sample.owner=debug.");
	}

	/**
	 * It has crashed before it responded: a client sends its request again, to any
	 * instance.
	 */
	static OwnerUnavailableException crashed() {
		return new OwnerUnavailableException(HttpStatus.BAD_GATEWAY,
				"The second JVM crashed before it responded. Send the request again, with the same key, to "
						+ "/api/checkout or /api/checkout/start.");
	}

}
