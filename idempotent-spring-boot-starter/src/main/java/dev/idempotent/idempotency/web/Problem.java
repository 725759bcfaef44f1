package dev.idempotent.idempotency.web;

import java.util.Locale;
import java.util.Set;

import org.springframework.http.HttpStatus;

/**
 * The problems that this library itself reports to clients, each with a stable name.
 */
enum Problem {

	KEY_MISSING(HttpStatus.BAD_REQUEST, "Idempotency key missing"),

	KEY_MALFORMED(HttpStatus.BAD_REQUEST, "Idempotency key malformed"),

	REQUEST_MALFORMED(HttpStatus.BAD_REQUEST, "Request malformed"),

	REQUEST_TOO_LARGE(HttpStatus.CONTENT_TOO_LARGE, "Request body too large"),

	IN_PROGRESS(HttpStatus.CONFLICT, "Request in progress"),

	SAGA_COMPENSATED(HttpStatus.UNPROCESSABLE_CONTENT, "Work undone"),

	SAGA_HALTED(HttpStatus.CONFLICT, "Work halted"),

	RESPONSE_NOT_KEPT(HttpStatus.CONFLICT, "Completed, response not kept"),

	KEY_REUSED(HttpStatus.UNPROCESSABLE_CONTENT, "Idempotency key reused"),

	CANCELLED(HttpStatus.GONE, "Action cancelled"),

	CALLER_REQUIRED(HttpStatus.FORBIDDEN, "Caller required"),

	TOKEN_REFUSED(HttpStatus.FORBIDDEN, "Token refused"),

	TOKEN_EXPIRED(HttpStatus.GONE, "Token expired"),

	OVERLOADED(HttpStatus.SERVICE_UNAVAILABLE, "Too many large requests"),

	CALLER_UNKNOWN(HttpStatus.INTERNAL_SERVER_ERROR, "Caller unknown"),

	STORE_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "Idempotency store unreachable"),

	STORE_FAILED(HttpStatus.INTERNAL_SERVER_ERROR, "Idempotency store failed"),

	ROLLED_BACK(HttpStatus.INTERNAL_SERVER_ERROR, "Work rolled back"),

	RESPONSE_TOO_LARGE(HttpStatus.INTERNAL_SERVER_ERROR, "Response too large"),

	OUTCOME_UNKNOWN(HttpStatus.SERVICE_UNAVAILABLE, "Outcome unknown");

	private static final Set<Problem> RETRYABLE = Set.of(IN_PROGRESS, OVERLOADED, STORE_UNREACHABLE, ROLLED_BACK,
			OUTCOME_UNKNOWN);

	private final HttpStatus status;

	private final String title;

	Problem(HttpStatus status, String title) {
		this.status = status;
		this.title = title;
	}

	HttpStatus status() {
		return this.status;
	}

	String title() {
		return this.title;
	}

	/**
	 * Returns the last part of its type, such as {@code in-progress}.
	 */
	String slug() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * Returns whether the same request, sent again with the same key, can succeed without
	 * a change by the client or an operator.
	 */
	boolean isRetryable() {
		return RETRYABLE.contains(this);
	}

}
