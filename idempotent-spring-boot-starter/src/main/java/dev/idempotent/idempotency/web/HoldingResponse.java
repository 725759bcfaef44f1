package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpHeaders;

/**
 * A response whose body is held back until it has been stored. A body that grows over the
 * limit, or that is meant to be read as it grows, streams to the client instead and
 * cannot be stored.
 */
final class HoldingResponse extends HttpServletResponseWrapper {

	private final int limit;

	private final ByteArrayOutputStream held = new ByteArrayOutputStream();

	private @Nullable ServletOutputStream stream;

	private @Nullable PrintWriter writer;

	private boolean streaming;

	private boolean errorSent;

	HoldingResponse(HttpServletResponse response, int limit) {
		super(response);
		this.limit = limit;
	}

	/**
	 * Tells whether the body went to the client instead of being held.
	 */
	boolean isStreaming() {
		return this.streaming;
	}

	/**
	 * Tells whether the container has yet to write the answer, in an error dispatch.
	 */
	boolean isErrorSent() {
		return this.errorSent;
	}

	/**
	 * The answer as far as it has been written.
	 */
	CapturedResponse capture() {
		flushWriter();
		return CapturedResponse.of(this, this.held.toByteArray());
	}

	/**
	 * Sends what is held.
	 */
	void sendHeld() throws IOException {
		flushWriter();
		if (!this.streaming && this.held.size() > 0) {
			if (!containsHeader(HttpHeaders.CONTENT_LENGTH)) {
				getResponse().setContentLength(this.held.size());
			}
			this.held.writeTo(getResponse().getOutputStream());
		}
	}

	@Override
	public ServletOutputStream getOutputStream() {
		if (this.writer != null) {
			throw new IllegalStateException("getWriter() has been called for this response");
		}
		return stream();
	}

	@Override
	public PrintWriter getWriter() throws IOException {
		if (this.writer == null) {
			if (this.stream != null) {
				throw new IllegalStateException("getOutputStream() has been called for this response");
			}
			// The container makes the charset part of the content type at this point.
			setCharacterEncoding(getCharacterEncoding());
			this.writer = new PrintWriter(new OutputStreamWriter(stream(), getCharacterEncoding()));
		}
		return this.writer;
	}

	@Override
	public void flushBuffer() throws IOException {
		flushWriter();
		if (this.streaming || isMeantToStream()) {
			stopHolding();
			super.flushBuffer();
		}
	}

	@Override
	public void resetBuffer() {
		super.resetBuffer();
		this.held.reset();
	}

	@Override
	public void reset() {
		super.reset();
		this.held.reset();
		this.stream = null;
		this.writer = null;
	}

	@Override
	public void sendError(int status) throws IOException {
		super.sendError(status);
		this.held.reset();
		this.errorSent = true;
	}

	@Override
	public void sendError(int status, String message) throws IOException {
		super.sendError(status, message);
		this.held.reset();
		this.errorSent = true;
	}

	private ServletOutputStream stream() {
		if (this.stream == null) {
			this.stream = new HoldingStream();
		}
		return this.stream;
	}

	private void flushWriter() {
		if (this.writer != null) {
			this.writer.flush();
		}
	}

	private boolean isMeantToStream() {
		String type = getContentType();
		return type != null && (type.startsWith("text/event-stream") || type.startsWith("application/x-ndjson"));
	}

	private ServletOutputStream stopHolding() throws IOException {
		ServletOutputStream target = getResponse().getOutputStream();
		if (!this.streaming) {
			this.streaming = true;
			this.held.writeTo(target);
			this.held.reset();
		}
		return target;
	}

	private final class HoldingStream extends ServletOutputStream {

		@Override
		public void write(int b) throws IOException {
			write(new byte[] { (byte) b }, 0, 1);
		}

		@Override
		public void write(byte[] source, int offset, int length) throws IOException {
			HoldingResponse response = HoldingResponse.this;
			if (response.streaming || length > response.limit - response.held.size() || isMeantToStream()) {
				stopHolding().write(source, offset, length);
			}
			else {
				response.held.write(source, offset, length);
			}
		}

		@Override
		public void flush() throws IOException {
			if (HoldingResponse.this.streaming) {
				getResponse().getOutputStream().flush();
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

	}

}
