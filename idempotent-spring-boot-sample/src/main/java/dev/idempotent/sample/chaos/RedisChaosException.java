package dev.idempotent.sample.chaos;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * An outage of Redis that a client has requested cannot be made.
 */
final class RedisChaosException extends ErrorResponseException {

	private RedisChaosException(HttpStatus status, String detail) {
		super(status, ProblemDetail.forStatusAndDetail(status, detail), null);
	}

	static RedisChaosException invalidAction() {
		return new RedisChaosException(HttpStatus.BAD_REQUEST, "The member action takes cut, restore or wipe.");
	}

	static RedisChaosException disabled() {
		return new RedisChaosException(HttpStatus.NOT_FOUND,
				"Failures on request are disabled by sample.chaos.enabled.");
	}

	static RedisChaosException notEmbedded() {
		return new RedisChaosException(HttpStatus.CONFLICT, "This instance uses a Redis that spring.data.redis.* "
				+ "configures. Only the instance that has started an embedded Redis can cut it off.");
	}

}
