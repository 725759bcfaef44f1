package dev.idempotent.idempotency.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpResponse;

/**
 * The response to one attempt of a call. The call is done only if the response reports a
 * success. It is marked as unanswered if it fails or its body cannot be read to the end:
 * the next equal call is then a retry and gets the same key.
 */
final class PendingCall implements ClientHttpResponse {

	static final String KEY_HEADER = "Idempotency-Key";

	private static final Set<HttpMethod> SAFE_METHODS = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS,
			HttpMethod.TRACE);

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

	private final ClientHttpResponse response;

	private PendingCall(CallAttempt attempt, ClientHttpResponse response) {
		this.attempt = attempt;
		this.response = response;
	}

	/**
	 * Sends the request.
	 * @throws IOException if the request or its response fails
	 */
	static ClientHttpResponse send(CallAttempt attempt, HttpRequest request, byte[] body,
			ClientHttpRequestExecution execution) throws IOException {
		boolean answered = false;
		try {
			PendingCall call = new PendingCall(attempt, execution.execute(request, body));
			answered = call.isAnswer(request);
			return call;
		}
		finally {
			if (!answered) {
				attempt.markUnanswered();
			}
		}
	}

	static boolean isSafe(HttpMethod method) {
		return SAFE_METHODS.contains(method);
	}

	/**
	 * Returns whether a retry of the request would end in the same way.
	 */
	static boolean isAnswer(int status) {
		return status < FIRST_ERROR && !RETRYABLE.contains(status);
	}

	private boolean isAnswer(HttpRequest request) {
		int status;
		try {
			status = this.response.getStatusCode().value();
		}
		catch (IOException ex) {
			// The caller gets the same exception when it reads the status.
			return false;
		}
		boolean keyed = request.getHeaders().containsHeader(KEY_HEADER);
		this.attempt.markAnswered(new Answer(status, keyed && isReplay(this.response.getHeaders())));
		if (isDone(request, status)) {
			this.attempt.markDone();
		}
		return isAnswer(status);
	}

	/**
	 * Returns whether the service states that the response is a replay, and nothing else:
	 * as text, or as a boolean of structured headers.
	 */
	private static boolean isReplay(HttpHeaders headers) {
		List<String> values = headers.getOrEmpty(REPLAYED_HEADER);
		return !values.isEmpty() && values.stream()
			.map(String::strip)
			.allMatch((value) -> value.equalsIgnoreCase("true") || value.equals("?1"));
	}

	/**
	 * A safe request has no effect, so it is done, too, if there is nothing to read.
	 */
	private static boolean isDone(HttpRequest request, int status) {
		return (status >= FIRST_SUCCESS && status < FIRST_REDIRECT) || (isSafe(request.getMethod())
				&& (status == NOT_MODIFIED || (status >= FIRST_REFUSAL && isAnswer(status))));
	}

	@Override
	public HttpStatusCode getStatusCode() throws IOException {
		return this.response.getStatusCode();
	}

	@Override
	public String getStatusText() throws IOException {
		return this.response.getStatusText();
	}

	@Override
	public HttpHeaders getHeaders() {
		return this.response.getHeaders();
	}

	@Override
	public InputStream getBody() throws IOException {
		try {
			return watch(this.response.getBody());
		}
		catch (IOException ex) {
			this.attempt.markUnanswered();
			throw ex;
		}
	}

	@Override
	public void close() {
		this.response.close();
	}

	private InputStream watch(InputStream body) {
		return new FilterInputStream(body) {

			@Override
			public int read() throws IOException {
				try {
					return super.read();
				}
				catch (IOException ex) {
					PendingCall.this.attempt.markUnanswered();
					throw ex;
				}
			}

			@Override
			public int read(byte[] bytes, int offset, int length) throws IOException {
				try {
					return super.read(bytes, offset, length);
				}
				catch (IOException ex) {
					PendingCall.this.attempt.markUnanswered();
					throw ex;
				}
			}

		};
	}

}
