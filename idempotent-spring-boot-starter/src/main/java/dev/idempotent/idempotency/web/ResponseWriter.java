package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyReceipt;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.concurrent.OutageLog;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the responses that do not come from a handler: replays and problem details. Their
 * bodies are flushed, as Spring MVC flushes the bodies of handlers: nothing that follows,
 * such as a failing interceptor, replaces them.
 */
final class ResponseWriter {

	private static final Logger logger = LoggerFactory.getLogger(ResponseWriter.class);

	private final HttpServletRequest request;

	private final HttpServletResponse response;

	private final ProblemTypes problems;

	ResponseWriter(HttpServletRequest request, HttpServletResponse response, ProblemTypes problems) {
		this.request = request;
		this.response = response;
		this.problems = problems;
	}

	/**
	 * Adds the receipt for the key of the request to its response, unless that leaves the
	 * outcome open.
	 * @param key the key of the header, or {@code null} if the request has none
	 */
	void giveReceipt(@Nullable String key) {
		if (key != null) {
			this.response.setHeader(IdempotencyReceipt.HEADER, IdempotencyReceipt.of(key));
		}
	}

	/**
	 * Replays a stored response, or reports that it was not stored.
	 */
	void replay(StoredResponse stored) throws IOException {
		CapturedResponse captured = CapturedResponse.decode(stored);
		if (captured == null) {
			refuse(Problem.RESPONSE_NOT_KEPT);
		}
		else {
			captured.replayTo(this.response);
			if (captured.body().length > 0 && captured.redirect() == null && captured.error() == null) {
				this.response.flushBuffer();
			}
		}
	}

	/**
	 * Creates a writer in the place of a handler, whose buffered response is discarded.
	 */
	static ResponseWriter inPlaceOf(BufferedResponse buffered, HttpServletRequest request, ProblemTypes problems) {
		buffered.restoreStart(request);
		return new ResponseWriter(request, (HttpServletResponse) buffered.getResponse(), problems);
	}

	void refuse(Problem problem) throws IOException {
		refuse(problem.refusal());
	}

	/**
	 * Refuses a request that cannot be claimed as it was sent.
	 */
	void refuse(RefusedRequestException ex) throws IOException {
		Problem problem = ex.problem();
		String instance = ProblemTypes.newInstance();
		if (problem == Problem.CALLER_UNKNOWN || problem == Problem.CALLER_REQUIRED) {
			// Only the log contains the advice for the operator.
			logger.warn("A {} request was refused ({}). {}", this.request.getMethod(), instance, ex.detail());
			send(problem, problem.detail(), instance);
		}
		else {
			send(problem, ex.detail(), instance);
		}
	}

	/**
	 * Refuses a request whose key the store could not claim.
	 */
	void refuse(IdempotencyStoreException ex) throws IOException {
		if (ex instanceof IdempotencyStoreUnavailableException) {
			refuse(Problem.STORE_UNREACHABLE);
			return;
		}
		String instance = ProblemTypes.newInstance();
		logger.error("A {} request was refused ({}) because its idempotency key, or the response stored under it, "
				+ "cannot be used", this.request.getMethod(), instance, ex);
		send(Problem.STORE_FAILED, Problem.STORE_FAILED.detail(), instance);
	}

	/**
	 * Reports that the work was rolled back because its transaction had ended early.
	 */
	void refuse(IdempotencyClaimLostException ex) throws IOException {
		String instance = ProblemTypes.newInstance();
		logger.error(
				"The work of a {} request under Guarantee.TRANSACTION was rolled back ({}), because its transaction had "
						+ "ended before its handler did. Do not end the transaction within the handler",
				this.request.getMethod(), instance, ex);
		send(Problem.ROLLED_BACK, "The transaction of the work ended before its handler did, and the rest was rolled "
				+ "back. Send the request again with the same key.", instance);
	}

	/**
	 * Reports that the response to work that was rolled back could not be stored.
	 */
	void refuse(WorkRolledBackException ex) throws IOException {
		String instance = ProblemTypes.newInstance();
		warn("The response to a {} request whose work was rolled back could not be stored, so it was not sent ({}): {}",
				instance, ex);
		send(Problem.STORE_UNREACHABLE, "Nothing was done. Send the request again with the same key.", instance);
	}

	/**
	 * Reports that it is unknown whether the work was committed.
	 */
	void refuseOutcomeUnknown(IdempotencyStoreUnavailableException ex) throws IOException {
		String instance = ProblemTypes.newInstance();
		warn("The response to a {} request is 503 ({}), because it is unknown whether its work was committed. A retry "
				+ "with the same key learns the outcome: {}", instance, ex);
		send(Problem.OUTCOME_UNKNOWN, Problem.OUTCOME_UNKNOWN.detail(), instance);
	}

	/**
	 * Logs an expected failure of the database.
	 */
	private void warn(String message, String instance, RuntimeException failure) {
		logger.warn(message, this.request.getMethod(), instance, OutageLog.reason(failure));
		logger.debug("The stack trace of the failure above", failure);
	}

	private void send(Problem problem, String detail, String instance) throws IOException {
		if (this.response.containsHeader(IdempotencyReceipt.HEADER)) {
			this.response.setHeader(IdempotencyReceipt.HEADER, IdempotencyReceipt.OPEN);
		}
		this.problems.respond(problem, detail, problem.isRetryable(), instance).sendTo(this.response);
		this.response.flushBuffer();
	}

}
