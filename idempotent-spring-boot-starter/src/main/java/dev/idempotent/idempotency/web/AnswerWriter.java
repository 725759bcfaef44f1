package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.WorkRolledBackException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsProcessor;
import org.springframework.web.cors.DefaultCorsProcessor;

/**
 * Sends the answers for which no handler runs. They keep to what the handler's CORS
 * configuration allows, or a browser would hide them from the page.
 */
final class AnswerWriter {

	private static final Logger logger = LoggerFactory.getLogger(AnswerWriter.class);

	private static final CorsProcessor corsProcessor = new DefaultCorsProcessor();

	private final HttpServletRequest request;

	private final HttpServletResponse response;

	private final @Nullable CorsConfiguration cors;

	AnswerWriter(HttpServletRequest request, HttpServletResponse response, @Nullable CorsConfiguration cors) {
		this.request = request;
		this.response = response;
		this.cors = cors;
	}

	void refused(RefusedRequestException ex) throws IOException {
		if (ex.problem() == Problem.CALLER_UNKNOWN) {
			logger.warn("A {} request was refused. {}", this.request.getMethod(), ex.detail());
		}
		if (!mayAnswer()) {
			return;
		}
		if (ex.problem() == Problem.OVERLOADED) {
			ex.problem().sendRetryable(this.response, ex.detail());
		}
		else if (ex.problem() == Problem.CALLER_UNKNOWN) {
			// What the operator should do is in the log.
			ex.problem()
				.send(this.response,
						"The service cannot determine the caller. Nothing was done. Contact the operator.");
		}
		else {
			ex.problem().send(this.response, ex.detail());
		}
	}

	void notClaimed(IdempotencyStoreException ex) throws IOException {
		if (!mayAnswer()) {
			return;
		}
		if (ex instanceof IdempotencyStoreUnavailableException) {
			Problem.STORE_UNREACHABLE.sendRetryable(this.response, "Nothing was done. Send the request again.");
		}
		else {
			logger.error("A request was refused because its idempotency key cannot be kept", ex);
			Problem.STORE_FAILED.send(this.response,
					"Nothing was done. The operator of this service has been told why.");
		}
	}

	void notAcquired(Claim claim) throws IOException {
		notAcquired(claim, false);
	}

	/**
	 * Sends what there is instead of a run.
	 * @param derived whether the client has sent no key, so that it cannot send another
	 */
	void notAcquired(Claim claim, boolean derived) throws IOException {
		if (!mayAnswer()) {
			return;
		}
		Answer answer = claim.<Answer, RuntimeException>fold((acquired) -> {
			throw new IllegalStateException("An acquired key has no answer yet");
		}, (pending) -> this::inProgress, (completed) -> () -> replay(completed.response()),
				(mismatched) -> () -> keyReused(derived));
		answer.send();
	}

	private void inProgress() throws IOException {
		Problem.IN_PROGRESS.sendRetryable(this.response,
				"The first request with this idempotency key is still running. Send it again in a moment.");
	}

	private void keyReused(boolean derived) throws IOException {
		Problem.KEY_REUSED.send(this.response, derived
				? "This operation derives its idempotency key from the request, and a request with the same key and "
						+ "other content came before. Nothing was done for this one: sending it again does not help."
				: "This idempotency key was sent with another request before. Send a new key with a new request.");
	}

	/**
	 * Sends what is on record.
	 */
	void recorded(StoredResponse stored) throws IOException {
		if (mayAnswer()) {
			replay(stored);
		}
	}

	void tooLong(int limit) throws IOException {
		if (mayAnswer()) {
			Problem.RESPONSE_TOO_LARGE.send(this.response, "Nothing was done: the response is longer than " + limit
					+ " bytes, the most that is held until its transaction has committed (idempotent.web.max-held-response).");
		}
	}

	void rolledBack() throws IOException {
		if (mayAnswer()) {
			Problem.ROLLED_BACK.send(this.response,
					"Nothing was done: the transaction was rolled back, because a part of the work had failed or because its "
							+ "status is none that is stored.");
		}
	}

	void claimLost(IdempotencyClaimLostException ex) throws IOException {
		logger.error("The work of a handler under Guarantee.TRANSACTION was rolled back", ex);
		if (mayAnswer()) {
			Problem.ROLLED_BACK.send(this.response,
					"The transaction of the work ended before its handler did, and the rest was rolled back. "
							+ "Send the request again.");
		}
	}

	void notKept(WorkRolledBackException ex) throws IOException {
		logger.warn("The answer to work that was rolled back could not be kept, so it was not sent", ex);
		if (mayAnswer()) {
			Problem.STORE_UNREACHABLE.sendRetryable(this.response, "Nothing was done. Send the request again.");
		}
	}

	void outcomeUnknown(IdempotencyStoreUnavailableException ex) throws IOException {
		logger.warn("A request was answered 503 because nobody could tell whether its work was committed", ex);
		if (mayAnswer()) {
			Problem.OUTCOME_UNKNOWN.sendRetryable(this.response, "Nobody can tell yet whether the work was done. "
					+ "Send the request again with the same key: it will not be done twice.");
		}
	}

	private void replay(StoredResponse stored) throws IOException {
		CapturedResponse captured = CapturedResponse.decode(stored);
		if (captured != null) {
			captured.replayTo(this.response);
		}
		else {
			Problem.RESPONSE_NOT_KEPT.send(this.response,
					"The first request with this idempotency key has been carried "
							+ "out, and its response was not kept. Do not send it again.");
		}
	}

	private boolean mayAnswer() throws IOException {
		return this.cors == null || corsProcessor.processRequest(this.cors, this.request, this.response);
	}

	private interface Answer {

		void send() throws IOException;

	}

}
