package dev.idempotent.idempotency.web;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.Arrays;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body has been read into memory and can be read again.
 */
final class BufferedRequest extends HttpServletRequestWrapper {

	private static final int TRUSTED_LENGTH = 16 * 1024;

	private static final int MIN_GROWTH = 8 * 1024;

	private static final int GROWTH = 4;

	private final byte[] body;

	private @Nullable ServletInputStream stream;

	private @Nullable BufferedReader reader;

	private BufferedRequest(HttpServletRequest request, byte[] body) {
		super(request);
		this.body = body;
	}

	/**
	 * Reads the body.
	 * @throws RefusedRequestException if it exceeds the limit, in bytes
	 * @throws IOException if it cannot be received
	 */
	static BufferedRequest read(HttpServletRequest request, int limit) throws IOException {
		long stated = request.getContentLengthLong();
		if (stated > limit) {
			throw tooLarge(limit);
		}
		return new BufferedRequest(request, read(request.getInputStream(), stated, limit));
	}

	/**
	 * Reads into an array of the stated length, or of as much of it as the client is
	 * trusted with: more is allocated as bytes arrive.
	 * @param stated the stated length; negative if there is none
	 */
	private static byte[] read(InputStream in, long stated, int limit) throws IOException {
		byte[] body = new byte[(int) Math.max(0, Math.min(stated, TRUSTED_LENGTH))];
		int length = in.readNBytes(body, 0, body.length);
		while (length == body.length) {
			// The stated length may not be the end: a filter may have decompressed the
			// body.
			int next = in.read();
			if (next < 0) {
				return body;
			}
			if (length == limit) {
				throw tooLarge(limit);
			}
			body = Arrays.copyOf(body, grown(length, stated, limit));
			body[length] = (byte) next;
			length += 1 + in.readNBytes(body, length + 1, body.length - length - 1);
		}
		return Arrays.copyOf(body, length);
	}

	private static int grown(int length, long stated, int limit) {
		long grown = Math.max(MIN_GROWTH, GROWTH * (long) length);
		return (int) Math.min((length < stated) ? stated : limit, grown);
	}

	static RefusedRequestException tooLarge(int limit) {
		return Problem.REQUEST_TOO_LARGE
			.refusal("The body of a request with an idempotency key may have at most " + limit + " bytes.");
	}

	byte[] body() {
		return this.body;
	}

	@Override
	public ServletInputStream getInputStream() {
		if (this.reader != null) {
			throw new IllegalStateException("getReader() has been called for this request");
		}
		if (this.stream == null) {
			this.stream = new BodyStream(this.body);
		}
		return this.stream;
	}

	@Override
	public BufferedReader getReader() throws IOException {
		if (this.reader == null) {
			if (this.stream != null) {
				throw new IllegalStateException("getInputStream() has been called for this request");
			}
			String encoding = getCharacterEncoding();
			this.reader = new BufferedReader(
					new InputStreamReader(new BodyStream(this.body), (encoding != null) ? encoding : "ISO-8859-1"));
		}
		return this.reader;
	}

	private static final class BodyStream extends ServletInputStream {

		private final ByteArrayInputStream body;

		BodyStream(byte[] body) {
			this.body = new ByteArrayInputStream(body);
		}

		@Override
		public int read() {
			return this.body.read();
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			return this.body.read(target, offset, length);
		}

		@Override
		public byte[] readAllBytes() {
			return this.body.readAllBytes();
		}

		@Override
		public int available() {
			return this.body.available();
		}

		@Override
		public boolean isFinished() {
			return this.body.available() == 0;
		}

		@Override
		public boolean isReady() {
			return true;
		}

		@Override
		public void setReadListener(ReadListener listener) {
			throw new IllegalStateException("The body has been read already; read it without a listener");
		}

	}

}
