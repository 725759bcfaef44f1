package dev.idempotent.idempotency.web;

import java.util.Locale;
import java.util.Set;

import org.springframework.http.HttpStatus;

/**
 * The problems that this library itself reports to clients, each with a stable name, and
 * with what happened and what to do, unless that depends on the request.
 */
enum Problem {

	KEY_MISSING(HttpStatus.BAD_REQUEST, "Idempotency key missing"),

	KEY_MALFORMED(HttpStatus.BAD_REQUEST, "Idempotency key malformed"),

	REQUEST_MALFORMED(HttpStatus.BAD_REQUEST, "Request malformed"),

	REQUEST_TOO_LARGE(HttpStatus.CONTENT_TOO_LARGE, "Request body too large"),

	IN_PROGRESS(HttpStatus.CONFLICT, "Request in progress",
			"The first request with this idempotency key is still running. Send it again in a moment, unchanged and with "
					+ "the same key."),

	SAGA_COMPENSATED(HttpStatus.UNPROCESSABLE_CONTENT, "Work undone",
			"The work of this request could not be completed, and was undone. Sent again with this idempotency key, the "
					+ "request gets the same response. Use another key only if you want the work as a second operation."),

	SAGA_HALTED(HttpStatus.CONFLICT, "Work halted",
			"The work of this request has stopped, and an operator must decide. Do not request it again with another key."),

	RESPONSE_NOT_KEPT(HttpStatus.CONFLICT, "Completed, response not kept",
			"The first request with this idempotency key was processed, but its response could not be stored. Look its "
					+ "result up. Do not send it again, with this key or another one."),

	KEY_REUSED(HttpStatus.UNPROCESSABLE_CONTENT, "Idempotency key reused",
			"Nothing was done for this request: the first one with this idempotency key had different content, and it "
					+ "counts. " + Problem.FIRST_COUNTS
					+ " Use another key only for what you want as a second operation."),

	CANCELLED(HttpStatus.GONE, "Action cancelled",
			"This request was cancelled before it arrived. Nothing was done. Do not send it again."),

	ACTION_UNKNOWN(HttpStatus.UNPROCESSABLE_CONTENT, "Action unknown",
			"Nothing was done: the caller states that the action was done, and there is no record that it was. The action "
					+ "was never done, was refused or cancelled, or is older than its retention. Look up what it did."),

	CALLER_REQUIRED(HttpStatus.FORBIDDEN, "Caller required",
			"The service cannot determine the caller. Nothing was done. Contact the operator."),

	TOKEN_REFUSED(HttpStatus.FORBIDDEN, "Token refused",
			"Nothing was done for this request: the token was not issued for this operation and this caller. "
					+ RequestTokens.LOOK_UP_OR_RELOAD),

	TOKEN_EXPIRED(HttpStatus.GONE, "Token expired",
			"Nothing was done for this request: the token has expired. " + RequestTokens.LOOK_UP_OR_RELOAD),

	OVERLOADED(HttpStatus.SERVICE_UNAVAILABLE, "Too many large requests",
			"Too many large requests arrived at once. Nothing was done. Send the request again in a moment."),

	CALLER_UNKNOWN(HttpStatus.INTERNAL_SERVER_ERROR, "Caller unknown",
			"The service cannot determine the caller. Nothing was done. Contact the operator."),

	STORE_UNREACHABLE(HttpStatus.SERVICE_UNAVAILABLE, "Idempotency store unreachable",
			"This request did nothing; an earlier one with the same key may have been processed. Send the request "
					+ "again with the same key."),

	STORE_FAILED(HttpStatus.INTERNAL_SERVER_ERROR, "Idempotency store failed",
			"This request did nothing; an earlier one with the same key may have been processed. The cause is in the "
					+ "log of this service."),

	ROLLED_BACK(HttpStatus.INTERNAL_SERVER_ERROR, "Work rolled back",
			"Nothing was done: the transaction was rolled back, because a part of the work had failed or because "
					+ "responses with its status are not stored."),

	RESPONSE_TOO_LARGE(HttpStatus.INTERNAL_SERVER_ERROR, "Response too large"),

	OUTCOME_UNKNOWN(HttpStatus.SERVICE_UNAVAILABLE, "Outcome unknown",
			"It is not yet known whether the work was done. Send the request again with the same key: it will not be "
					+ "done twice.");

	/**
	 * What a client whose request is not the first one has to know before it sends
	 * another one.
	 */
	static final String FIRST_COUNTS = "It was processed, or is in progress. To see its result, send the first request "
			+ "again unchanged, or look it up.";

	private static final Set<Problem> RETRYABLE = Set.of(IN_PROGRESS, OVERLOADED, STORE_UNREACHABLE, ROLLED_BACK,
			OUTCOME_UNKNOWN);

	private final HttpStatus status;

	private final String title;

	private final String detail;

	Problem(HttpStatus status, String title) {
		this(status, title, "");
	}

	Problem(HttpStatus status, String title, String detail) {
		this.status = status;
		this.title = title;
		this.detail = detail;
	}

	int status() {
		return this.status.value();
	}

	String title() {
		return this.title;
	}

	String detail() {
		return this.detail;
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

	RefusedRequestException refusal() {
		return refusal(this.detail);
	}

	/**
	 * Creates an exception with this problem.
	 * @param reason what happened and what to do, without data that the client sent
	 */
	RefusedRequestException refusal(String reason) {
		return new RefusedRequestException(this, reason);
	}

	/**
	 * A request that cannot be claimed as it was sent.
	 */
	@SuppressWarnings("serial")
	static final class RefusedRequestException extends RuntimeException {

		private final Problem problem;

		private final String detail;

		private RefusedRequestException(Problem problem, String detail) {
			super(detail, null, false, false);
			this.problem = problem;
			this.detail = detail;
		}

		Problem problem() {
			return this.problem;
		}

		String detail() {
			return this.detail;
		}

	}

}
