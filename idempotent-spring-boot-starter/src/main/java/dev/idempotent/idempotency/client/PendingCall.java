package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.CallAttempt;
import dev.idempotent.idempotency.IdempotencyContext.Answer;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;

/**
 * One attempt of a call. Marks it as done only if its response reports a success, and as
 * unanswered, once, if it fails: the next equal call is then a retry and gets the same
 * key.
 */
final class PendingCall {

	/**
	 * Client errors after which the same request may succeed.
	 */
	private static final Set<Integer> RETRYABLE = Set.of(401, 403, 408, 409, 412, 425, 428, 429);

	private static final String REPLAYED_HEADER = "Idempotent-Replayed";

	private static final int NOT_MODIFIED = 304;

	private static final int FIRST_SUCCESS = 200;

	private static final int FIRST_REDIRECT = 300;

	private static final int FIRST_REFUSAL = 400;

	private static final int FIRST_ERROR = 500;

	private final CallAttempt attempt;

	private final AtomicBoolean unanswered = new AtomicBoolean();

	PendingCall(CallAttempt attempt) {
		this.attempt = attempt;
	}

	/**
	 * Sends the request.
	 * @return the response; a failure to read its body makes the call unanswered
	 * @throws IOException if the request or its response fails
	 */
	ClientHttpResponse send(HttpRequest request, byte[] body, ClientHttpRequestExecution execution) throws IOException {
		boolean answered = false;
		try {
			ClientHttpResponse response = execution.execute(request, body);
			answered = isAnswer(request, response);
			return new WatchedResponse(response, this::unanswered);
		}
		finally {
			if (!answered) {
				unanswered();
			}
		}
	}

	/**
	 * Returns whether a retry of the request would end in the same way.
	 */
	static boolean isAnswer(int status) {
		return status < FIRST_ERROR && !RETRYABLE.contains(status);
	}

	private boolean isAnswer(HttpRequest request, ClientHttpResponse response) {
		int status;
		try {
			status = response.getStatusCode().value();
		}
		catch (IOException ex) {
			// The caller gets the same exception when it reads the status.
			return false;
		}
		boolean keyed = request.getHeaders().containsHeader(KeyedRequest.HEADER);
		this.attempt.markAnswered(new Answer(status, keyed && response.getHeaders().containsHeader(REPLAYED_HEADER)));
		if (isDone(request, status)) {
			this.attempt.markDone();
		}
		return isAnswer(status);
	}

	/**
	 * A safe request has no effect, so it is done, too, if there is nothing to read.
	 */
	private static boolean isDone(HttpRequest request, int status) {
		return (status >= FIRST_SUCCESS && status < FIRST_REDIRECT)
				|| (IdempotencyKeyInterceptor.isSafe(request.getMethod())
						&& (status == NOT_MODIFIED || (status >= FIRST_REFUSAL && isAnswer(status))));
	}

	private void unanswered() {
		if (this.unanswered.compareAndSet(false, true)) {
			this.attempt.markUnanswered();
		}
	}

}
