package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.DerivedKey;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Finds out whether a call has brought an answer that would be repeated, and notes once
 * if it has not.
 */
final class PendingCall {

	private static final Set<Integer> COME_AGAIN = Set.of(401, 403, 408, 409, 412, 425, 428, 429);

	private static final int FIRST_ERROR = 500;

	private final DerivedKey key;

	private final AtomicBoolean unanswered = new AtomicBoolean();

	PendingCall(DerivedKey key) {
		this.key = key;
	}

	/**
	 * Makes the call.
	 * @return its response, which is watched while it is read
	 * @throws IOException as the call does
	 */
	ClientHttpResponse await(Call call) throws IOException {
		boolean answered = false;
		try {
			ClientHttpResponse response = call.make();
			answered = isAnswer(response);
			return new WatchedResponse(response, this);
		}
		finally {
			if (!answered) {
				unanswered();
			}
		}
	}

	/**
	 * Notes that the answer got lost.
	 */
	void unanswered() {
		if (this.unanswered.compareAndSet(false, true)) {
			this.key.unanswered();
		}
	}

	private static boolean isAnswer(ClientHttpResponse response) {
		try {
			int status = response.getStatusCode().value();
			return status < FIRST_ERROR && !COME_AGAIN.contains(status);
		}
		catch (IOException ex) {
			// Whoever asks for the status next is told.
			return false;
		}
	}

	/**
	 * Sends the request.
	 */
	@FunctionalInterface
	interface Call {

		ClientHttpResponse make() throws IOException;

	}

}
