package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.function.BooleanSupplier;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * The body of a buffered response. If streaming is allowed, it streams to the client as
 * soon as it exceeds the limit, or from its start if its handler or content type is for
 * streaming.
 */
final class BufferedBody extends ServletOutputStream {

	private static final int INITIAL_SIZE = 256;

	private final HttpServletResponse target;

	private final int limit;

	private final @Nullable BooleanSupplier handlerStreams;

	private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(INITIAL_SIZE);

	private boolean streaming;

	private boolean tooLong;

	private boolean closed;

	/**
	 * Creates an empty body.
	 * @param target the response that it is sent to
	 * @param limit the longest body that is buffered, in bytes
	 * @param handlerStreams whether the handler streams its response, or {@code null} if
	 * the body must not be streamed
	 */
	BufferedBody(HttpServletResponse target, int limit, @Nullable BooleanSupplier handlerStreams) {
		this.target = target;
		this.limit = limit;
		this.handlerStreams = handlerStreams;
	}

	boolean isStreaming() {
		return this.streaming;
	}

	boolean isTooLong() {
		return this.tooLong;
	}

	int size() {
		return this.buffer.size();
	}

	byte[] bytes() {
		return this.buffer.toByteArray();
	}

	void discard() {
		this.buffer.reset();
	}

	/**
	 * Discards the body and accepts a new one.
	 */
	void reopen() {
		discard();
		this.closed = false;
		this.tooLong = false;
	}

	/**
	 * Ignores everything that is written from now on.
	 * @param discard whether what was written before is discarded, too
	 */
	void close(boolean discard) {
		if (discard) {
			discard();
		}
		this.closed = true;
	}

	/**
	 * Sends the buffered bytes, with their number as the content length.
	 */
	void send() throws IOException {
		if (this.buffer.size() > 0 && !this.target.containsHeader(HttpHeaders.CONTENT_LENGTH)) {
			this.target.setContentLength(this.buffer.size());
		}
		sendWithoutLength();
	}

	/**
	 * Sends the buffered bytes, as the beginning of a response that is not complete yet.
	 */
	void sendWithoutLength() throws IOException {
		if (this.buffer.size() > 0) {
			this.buffer.writeTo(this.target.getOutputStream());
		}
	}

	@Override
	public void write(int b) throws IOException {
		write(new byte[] { (byte) b }, 0, 1);
	}

	@Override
	public void write(byte[] source, int offset, int length) throws IOException {
		if (this.closed) {
			return;
		}
		boolean fits = length <= this.limit - this.buffer.size();
		if (!fits && this.handlerStreams == null) {
			this.tooLong = true;
			throw new IOException("The response is longer than the " + this.limit + " bytes that are buffered");
		}
		if (!fits || mustStream()) {
			startStreaming();
			this.target.getOutputStream().write(source, offset, length);
		}
		else {
			this.buffer.write(source, offset, length);
		}
	}

	@Override
	public void flush() throws IOException {
		if (mustStream()) {
			startStreaming();
			this.target.flushBuffer();
		}
	}

	@Override
	public boolean isReady() {
		return true;
	}

	@Override
	public void setWriteListener(WriteListener listener) {
		throw new IllegalStateException("The response is buffered until it is stored; write it without a listener");
	}

	private boolean mustStream() {
		return this.handlerStreams != null && (this.streaming || this.handlerStreams.getAsBoolean()
				|| isStreamingType(this.target.getContentType()));
	}

	private static boolean isStreamingType(@Nullable String type) {
		return type != null && (type.startsWith("text/event-stream") || type.startsWith("application/x-ndjson"));
	}

	private void startStreaming() throws IOException {
		this.streaming = true;
		this.buffer.writeTo(this.target.getOutputStream());
		this.buffer.reset();
	}

}
