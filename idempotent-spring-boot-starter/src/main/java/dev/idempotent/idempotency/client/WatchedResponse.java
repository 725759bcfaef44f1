package dev.idempotent.idempotency.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;

/**
 * A response that reports when its body cannot be read to the end.
 */
final class WatchedResponse implements ClientHttpResponse {

	private final ClientHttpResponse response;

	private final Runnable brokenOff;

	/**
	 * Wraps a response.
	 * @param brokenOff called for each read of the body that fails
	 */
	WatchedResponse(ClientHttpResponse response, Runnable brokenOff) {
		this.response = response;
		this.brokenOff = brokenOff;
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
			this.brokenOff.run();
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
