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
 * The body of a held response. If it may, it streams to the client instead as soon as it
 * is longer than the limit, or is meant to be read as it grows.
 */
final class BufferedBody extends ServletOutputStream {

	private final HttpServletResponse target;

	private final int limit;

	private final @Nullable BooleanSupplier handlerStreams;

	private final ByteArrayOutputStream held = new ByteArrayOutputStream();

	private boolean streaming;

	private boolean tooLong;

	private boolean ended;

	/**
	 * Begins an empty body.
	 * @param target where it goes in the end
	 * @param limit the longest body that is held, in bytes
	 * @param handlerStreams whether the handler is of a kind that streams, or
	 * {@code null} if nothing may leave before the end
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
		return this.held.size();
	}

	byte[] held() {
		return this.held.toByteArray();
	}

	void discard() {
		this.held.reset();
	}

	/**
	 * Begins anew, as if nothing had been written.
	 */
	void begin() {
		discard();
		this.ended = false;
		this.tooLong = false;
	}

	/**
	 * Leaves the body as it is, or empty, whatever else is written.
	 */
	void end(boolean empty) {
		if (empty) {
			discard();
		}
		this.ended = true;
	}

	/**
	 * Sends what is held, with its length.
	 */
	void sendHeld() throws IOException {
		if (this.held.size() > 0 && !this.target.containsHeader(HttpHeaders.CONTENT_LENGTH)) {
			this.target.setContentLength(this.held.size());
		}
		sendPart();
	}

	/**
	 * Sends what is held, as the beginning of an answer that is not complete yet.
	 */
	void sendPart() throws IOException {
		if (this.held.size() > 0) {
			this.held.writeTo(this.target.getOutputStream());
		}
	}

	@Override
	public void write(int b) throws IOException {
		write(new byte[] { (byte) b }, 0, 1);
	}

	@Override
	public void write(byte[] source, int offset, int length) throws IOException {
		if (this.ended) {
			return;
		}
		boolean fits = length <= this.limit - this.held.size();
		if (!fits && this.handlerStreams == null) {
			this.tooLong = true;
			throw new IOException("The response is longer than the " + this.limit + " bytes that are held");
		}
		if (!fits || hasToStream()) {
			release();
			this.target.getOutputStream().write(source, offset, length);
		}
		else {
			this.held.write(source, offset, length);
		}
	}

	@Override
	public void flush() throws IOException {
		if (hasToStream()) {
			release();
			this.target.flushBuffer();
		}
	}

	@Override
	public boolean isReady() {
		return true;
	}

	@Override
	public void setWriteListener(WriteListener listener) {
		throw new IllegalStateException("The response is held until it is stored; write it without a listener");
	}

	private boolean hasToStream() {
		return this.handlerStreams != null && (this.streaming || this.handlerStreams.getAsBoolean()
				|| isTypeOfStreams(this.target.getContentType()));
	}

	private static boolean isTypeOfStreams(@Nullable String type) {
		return type != null && (type.startsWith("text/event-stream") || type.startsWith("application/x-ndjson"));
	}

	private void release() throws IOException {
		this.streaming = true;
		this.held.writeTo(this.target.getOutputStream());
		this.held.reset();
	}

}
