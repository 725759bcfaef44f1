package dev.idempotent.test;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.util.StreamUtils;

/**
 * Loses the answers to the next requests of a client after the server has sent them: the
 * client gets a {@link SocketTimeoutException}, although the work is done. Loses none
 * until {@link #lose} is called. Must be the last interceptor, so that the retries of
 * another one pass it. Thread-safe.
 */
public final class LostAnswers implements ClientHttpRequestInterceptor {

	private final AtomicInteger remaining = new AtomicInteger();

	/**
	 * Loses the next answers.
	 * @param answers how many, from now on; 0 to lose no more
	 */
	public void lose(int answers) {
		this.remaining.set(answers);
	}

	/**
	 * The number of answers that are still to be lost.
	 * @return 0 when all of them have been
	 */
	public int remaining() {
		return this.remaining.get();
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		ClientHttpResponse answer = execution.execute(request, body);
		if (this.remaining.getAndUpdate((left) -> Math.max(0, left - 1)) == 0) {
			return answer;
		}
		try (answer) {
			StreamUtils.drain(answer.getBody());
		}
		throw new SocketTimeoutException(
				"LostAnswers has lost the answer to %s %s".formatted(request.getMethod(), request.getURI().getPath()));
	}

}
