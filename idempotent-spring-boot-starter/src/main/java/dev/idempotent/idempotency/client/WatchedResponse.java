package dev.idempotent.idempotency.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;

/**
 * A response whose call counts as unanswered if its body breaks off.
 */
final class WatchedResponse implements ClientHttpResponse {

	private final ClientHttpResponse response;

	private final PendingCall call;

	WatchedResponse(ClientHttpResponse response, PendingCall call) {
		this.response = response;
		this.call = call;
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
		return watch(() -> new WatchedBody(this.response.getBody()));
	}

	@Override
	public void close() {
		this.response.close();
	}

	private <T> T watch(Step<T> step) throws IOException {
		try {
			return step.take();
		}
		catch (IOException ex) {
			this.call.unanswered();
			throw ex;
		}
	}

	@FunctionalInterface
	private interface Step<T> {

		T take() throws IOException;

	}

	private final class WatchedBody extends FilterInputStream {

		WatchedBody(InputStream body) {
			super(body);
		}

		@Override
		public int read() throws IOException {
			return watch(super::read);
		}

		@Override
		public int read(byte[] bytes, int offset, int length) throws IOException {
			return watch(() -> super.read(bytes, offset, length));
		}

	}

}
