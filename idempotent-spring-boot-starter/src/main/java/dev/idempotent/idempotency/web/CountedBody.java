package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * A request with a body of unstated length, outside all filters. Remembers whether any of
 * the body was read: after that, the end of a body looks like an empty one.
 */
final class CountedBody extends HttpServletRequestWrapper implements BooleanSupplier {

	private @Nullable ServletInputStream stream;

	/**
	 * Whether there was at least one byte.
	 */
	private volatile boolean read;

	private CountedBody(HttpServletRequest request) {
		super(request);
		request.setAttribute(BufferedRequest.BEGUN, this);
	}

	/**
	 * Returns the request as the filters should get it.
	 */
	static ServletRequest of(ServletRequest request) {
		return (request instanceof HttpServletRequest http && http.getAttribute(BufferedRequest.BEGUN) == null
				&& mayHaveUnstatedBody(http)) ? new CountedBody(http) : request;
	}

	/**
	 * Without a length, a request of HTTP/1 has a body only if it has this header. Later
	 * versions do not have the header.
	 */
	private static boolean mayHaveUnstatedBody(HttpServletRequest request) {
		return request.getContentLengthLong() < 0 && (request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null
				|| !request.getProtocol().startsWith("HTTP/1"));
	}

	/**
	 * Returns whether the body has begun to be read.
	 */
	@Override
	public boolean getAsBoolean() {
		return this.read;
	}

	@Override
	public ServletInputStream getInputStream() throws IOException {
		if (this.stream == null) {
			this.stream = new CountedStream(super.getInputStream());
		}
		return this.stream;
	}

	private int count(int length) {
		if (length > 0) {
			this.read = true;
		}
		return length;
	}

	private final class CountedStream extends ServletInputStream {

		private final ServletInputStream body;

		CountedStream(ServletInputStream body) {
			this.body = body;
		}

		@Override
		public int read() throws IOException {
			int next = this.body.read();
			count((next < 0) ? 0 : 1);
			return next;
		}

		@Override
		public int read(byte[] target, int offset, int length) throws IOException {
			return count(this.body.read(target, offset, length));
		}

		@Override
		public int read(ByteBuffer target) throws IOException {
			return count(this.body.read(target));
		}

		@Override
		public int available() throws IOException {
			return this.body.available();
		}

		@Override
		public boolean isFinished() {
			return this.body.isFinished();
		}

		@Override
		public boolean isReady() {
			return this.body.isReady();
		}

		@Override
		public void setReadListener(ReadListener listener) {
			this.body.setReadListener(listener);
		}

		@Override
		public void close() throws IOException {
			this.body.close();
		}

	}

}
