package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.WorkRolledBackException;
import dev.idempotent.work.RootCause;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsProcessor;
import org.springframework.web.cors.DefaultCorsProcessor;

/**
 * Sends the responses that do not come from a handler: replays and problem details.
 * Applies the CORS configuration of the handler, because a browser would otherwise hide
 * these responses from the page.
 */
final class ResponseWriter {

	private static final Logger logger = LoggerFactory.getLogger(ResponseWriter.class);

	private static final CorsProcessor corsProcessor = new DefaultCorsProcessor();

	private final HttpServletRequest request;

	private final HttpServletResponse response;

	private final @Nullable CorsConfiguration cors;

	private final ProblemTypes problems;

	ResponseWriter(HttpServletRequest request, HttpServletResponse response, @Nullable CorsConfiguration cors,
			ProblemTypes problems) {
		this.request = request;
		this.response = response;
		this.cors = cors;
		this.problems = problems;
	}

	/**
	 * Replays a stored response, or reports that it was not stored.
	 */
	void replay(StoredResponse stored) throws IOException {
		if (!mayAnswer()) {
			return;
		}
		CapturedResponse captured = CapturedResponseFormat.decode(stored);
		if (captured != null) {
			captured.replayTo(this.response);
		}
		else {
			this.problems
				.respond(Problem.RESPONSE_NOT_KEPT,
						"The first request with this idempotency key was processed, but its response could not be "
								+ "stored. Do not send it again.")
				.send(this.response);
		}
	}

	void refuseInProgress() throws IOException {
		refuse(Problem.IN_PROGRESS,
				"The first request with this idempotency key is still running. Send it again in a moment.");
	}

	/**
	 * Refuses a cancellation whose action is running.
	 */
	void refuseActionInProgress() throws IOException {
		refuse(Problem.IN_PROGRESS,
				"The request to cancel is still running. Nothing was done. Send the cancellation again in a moment.");
	}

	/**
	 * Refuses a request whose key was used for a different request. The client can choose
	 * another one unless it was derived from the request or issued by the server.
	 */
	void refuseReusedKey(IdempotentOperation operation) throws IOException {
		if (operation.keyExpression() != null) {
			refuse(Problem.KEY_REUSED,
					"This operation derives its idempotency key from the request, and an earlier request had the same "
							+ "key but different content. Nothing was done. Do not send this request again.");
		}
		else if (operation.keySource() == KeySource.TOKEN) {
			refuse(Problem.KEY_REUSED,
					"Nothing was done: this token was already used for a request with different content. Load the page "
							+ "again.");
		}
		else {
			refuseReusedKey();
		}
	}

	/**
	 * Refuses a request whose key was used for a different request.
	 */
	void refuseReusedKey() throws IOException {
		refuse(Problem.KEY_REUSED,
				"This idempotency key was already used for a different request. Send a new key with each new "
						+ "request.");
	}

	/**
	 * Refuses a request whose token has expired before its first use.
	 */
	void refuseExpiredToken() throws IOException {
		refuse(Problem.TOKEN_EXPIRED, "Nothing was done: the token has expired. Load the page again.");
	}

	/**
	 * Refuses a request that cannot be claimed as it was sent.
	 */
	void refuse(RefusedRequestException ex) throws IOException {
		if (ex.problem() == Problem.CALLER_UNKNOWN || ex.problem() == Problem.CALLER_REQUIRED) {
			ProblemResponse refusal = this.problems.respond(ex.problem(),
					"The service cannot determine the caller. Nothing was done. Contact the operator.");
			// Only the log contains the advice for the operator.
			logger.warn("A {} request was refused ({}). {}", this.request.getMethod(), refusal.instance(), ex.detail());
			send(refusal);
		}
		else {
			refuse(ex.problem(), ex.detail());
		}
	}

	/**
	 * Refuses a request whose key the store could not claim.
	 */
	void refuse(IdempotencyStoreException ex) throws IOException {
		if (ex instanceof IdempotencyStoreUnavailableException) {
			refuse(Problem.STORE_UNREACHABLE,
					"This request did nothing; an earlier one with the same key may have been processed. Send the "
							+ "request again with the same key.");
		}
		else {
			ProblemResponse refusal = this.problems.respond(Problem.STORE_FAILED,
					"This request did nothing; an earlier one with the same key may have been processed. The cause is "
							+ "in the log of this service.");
			logger.error("A {} request was refused ({}) because its idempotency key, or the response stored under it, "
					+ "cannot be used", this.request.getMethod(), refusal.instance(), ex);
			send(refusal);
		}
	}

	void refuseTooLong(int limit) throws IOException {
		refuse(Problem.RESPONSE_TOO_LARGE,
				"Nothing was done: the response is longer than " + limit
						+ " bytes, the most that is buffered until its transaction has committed "
						+ "(idempotent.web.max-buffered-response).");
	}

	/**
	 * Reports that the work was rolled back although the handler succeeded.
	 */
	void refuseRolledBack() throws IOException {
		refuse(Problem.ROLLED_BACK,
				"Nothing was done: the transaction was rolled back, because a part of the work had failed or because "
						+ "responses with its status are not stored.");
	}

	/**
	 * Reports that the work was rolled back because its transaction had ended early.
	 */
	void refuse(IdempotencyClaimLostException ex) throws IOException {
		ProblemResponse refusal = this.problems.respond(Problem.ROLLED_BACK,
				"The transaction of the work ended before its handler did, and the rest was rolled back. "
						+ "Send the request again.");
		logger.error(
				"The work of a {} request under Guarantee.TRANSACTION was rolled back ({}), because its transaction had "
						+ "ended before its handler did. Do not end the transaction within the handler",
				this.request.getMethod(), refusal.instance(), ex);
		send(refusal);
	}

	/**
	 * Reports that the response to work that was rolled back could not be stored.
	 */
	void refuse(WorkRolledBackException ex) throws IOException {
		ProblemResponse refusal = this.problems.respond(Problem.STORE_UNREACHABLE,
				"Nothing was done. Send the request again.");
		warn("The response to a {} request whose work was rolled back could not be stored, so it was not sent ({}): {}",
				refusal, ex);
		send(refusal);
	}

	/**
	 * Reports that it is unknown whether the work was committed.
	 */
	void refuseOutcomeUnknown(IdempotencyStoreUnavailableException ex) throws IOException {
		ProblemResponse refusal = this.problems.respond(Problem.OUTCOME_UNKNOWN,
				"It is not yet known whether the work was done. "
						+ "Send the request again with the same key: it will not be done twice.");
		warn("The response to a {} request is 503 ({}), because it is unknown whether its work was committed. A retry "
				+ "with the same key learns the outcome: {}", refusal, ex);
		send(refusal);
	}

	/**
	 * Logs an expected failure of the database.
	 */
	private void warn(String message, ProblemResponse refusal, RuntimeException failure) {
		logger.warn(message, this.request.getMethod(), refusal.instance(), RootCause.of(failure));
		logger.debug("The stack trace of the failure above", failure);
	}

	private void refuse(Problem problem, String detail) throws IOException {
		send(this.problems.respond(problem, detail));
	}

	private void send(ProblemResponse refusal) throws IOException {
		if (mayAnswer()) {
			refusal.send(this.response);
		}
	}

	private boolean mayAnswer() throws IOException {
		return this.cors == null || corsProcessor.processRequest(this.cors, this.request, this.response);
	}

}
