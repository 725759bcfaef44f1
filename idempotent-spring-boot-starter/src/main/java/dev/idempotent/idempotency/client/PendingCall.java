package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.DerivedKey;
import org.springframework.http.client.ClientHttpResponse;

/**
 * One attempt of a call. Marks its key as unanswered, once, if the attempt fails: the
 * next equal call is then a retry and gets the same key.
 */
final class PendingCall {

	/**
	 * Client errors after which the same request may succeed.
	 */
	private static final Set<Integer> RETRYABLE = Set.of(401, 403, 408, 409, 412, 425, 428, 429);

	private static final int FIRST_REFUSAL = 400;

	private static final int FIRST_ERROR = 500;

	private final DerivedKey key;

	private final AtomicBoolean unanswered = new AtomicBoolean();

	PendingCall(DerivedKey key) {
		this.key = key;
	}

	/**
	 * Sends the request.
	 * @return the response; a failure to read its body makes the call unanswered
	 * @throws IOException if the request or its response fails
	 */
	ClientHttpResponse send(Call call) throws IOException {
		boolean answered = false;
		try {
			ClientHttpResponse response = call.execute();
			answered = isAnswer(response);
			if (answered && response.getStatusCode().value() < FIRST_REFUSAL) {
				this.key.markSucceeded();
			}
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

	private void unanswered() {
		if (this.unanswered.compareAndSet(false, true)) {
			this.key.markUnanswered();
		}
	}

	private static boolean isAnswer(ClientHttpResponse response) {
		try {
			return isAnswer(response.getStatusCode().value());
		}
		catch (IOException ex) {
			// The caller gets the same exception when it reads the status.
			return false;
		}
	}

	/**
	 * The rest of the interceptor chain.
	 */
	@FunctionalInterface
	interface Call {

		ClientHttpResponse execute() throws IOException;

	}

}
