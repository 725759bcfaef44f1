package dev.idempotent.sample.sale;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Turns an outage of Redis or PostgreSQL into a {@code 503}, which is not stored: a retry
 * with the same key gets the unit, if one was reserved.
 */
@RestControllerAdvice(basePackageClasses = OutageAdvice.class)
class OutageAdvice {

	private static final Logger logger = LoggerFactory.getLogger(OutageAdvice.class);

	@ExceptionHandler({ DataAccessResourceFailureException.class, TransientDataAccessException.class,
			RedisSystemException.class, TransactionException.class })
	ResponseEntity<ProblemDetail> unavailable(RuntimeException ex) {
		logger.warn("Redis or PostgreSQL is unavailable: {}", ex.toString());
		return ResponseEntity.status(Refusal.UNAVAILABLE.status())
			.header(HttpHeaders.RETRY_AFTER, "1")
			.body(Refusal.UNAVAILABLE.problem());
	}

}
