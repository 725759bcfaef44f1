package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.BooleanSupplier;

import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * A response whose body is buffered until it has been stored, unless it must stream.
 */
final class BufferedResponse extends DeferredRedirectResponse {

	private final BufferedBody body;

	private boolean outputStreamUsed;

	private @Nullable PrintWriter writer;

	private String writerEncoding = "";

	private BufferedResponse(HttpServletResponse response, BufferedBody body) {
		super(response);
		this.body = body;
	}

	/**
	 * Buffers a response that may stream.
	 * @param limit the longest body that is buffered, in bytes
	 * @param handlerStreams whether the handler streams its response
	 */
	static BufferedResponse streaming(HttpServletResponse response, int limit, BooleanSupplier handlerStreams) {
		return new BufferedResponse(response, new BufferedBody(response, limit, handlerStreams));
	}

	/**
	 * Buffers a response of which nothing is sent before {@link #sendBuffered()}.
	 * @param limit the longest body that is buffered, in bytes
	 */
	static BufferedResponse withoutStreaming(HttpServletResponse response, int limit) {
		return new BufferedResponse(response, new BufferedBody(response, limit, null));
	}

	/**
	 * Returns whether the body was streamed to the client instead of buffered.
	 */
	boolean isStreaming() {
		return this.body.isStreaming();
	}

	/**
	 * Returns whether the body was rejected because it exceeds the limit.
	 */
	boolean isTooLong() {
		return this.body.isTooLong();
	}

	/**
	 * Returns whether neither a status, nor an error, nor a body has been set.
	 */
	boolean isUntouched() {
		flushWriter();
		return getStatus() == SC_OK && !isErrorSent() && !isStreaming() && !isTooLong() && this.body.size() == 0;
	}

	/**
	 * Captures the response as far as it has been written.
	 */
	CapturedResponse capture() {
		finishWriting();
		return CapturedResponse.of(this, applicationHeaders(), this.body.bytes(), redirect(), error());
	}

	/**
	 * Sends what is buffered.
	 */
	void sendBuffered() throws IOException {
		finishWriting();
		Redirect redirect = redirect();
		if (redirect == null) {
			this.body.send();
		}
		else {
			this.body.sendWithoutLength();
			redirect.sendTo((HttpServletResponse) getResponse());
		}
	}

	/**
	 * Resets the response, even if it was redirected.
	 */
	void startOver() {
		withdrawRedirect();
		reset();
	}

	/**
	 * Discards a redirect in favor of the response to a later failure.
	 */
	void withdrawRedirect() {
		if (redirect() != null) {
			deferRedirect(null);
			this.body.reopen();
		}
	}

	@Override
	public ServletOutputStream getOutputStream() {
		if (this.writer != null) {
			throw new IllegalStateException("getWriter() has been called for this response");
		}
		this.outputStreamUsed = true;
		return this.body;
	}

	@Override
	public PrintWriter getWriter() throws IOException {
		if (this.writer == null) {
			if (this.outputStreamUsed) {
				throw new IllegalStateException("getOutputStream() has been called for this response");
			}
			this.writerEncoding = getCharacterEncoding();
			this.writer = new PrintWriter(new OutputStreamWriter(this.body, this.writerEncoding));
			applyWriterEncoding();
		}
		return this.writer;
	}

	/**
	 * Sets the language as a header now; the container would only do so at the end.
	 */
	@Override
	public void setLocale(Locale locale) {
		super.setLocale(locale);
		setHeader(HttpHeaders.CONTENT_LANGUAGE, locale.toLanguageTag());
	}

	@Override
	public void flushBuffer() throws IOException {
		flushWriter();
		this.body.flush();
	}

	@Override
	public void resetBuffer() {
		requireNoRedirect();
		flushWriter();
		super.resetBuffer();
		this.body.discard();
	}

	@Override
	public void reset() {
		requireNoRedirect();
		super.reset();
		applicationHeaders().clear();
		this.body.reopen();
		this.outputStreamUsed = false;
		this.writer = null;
		setError(null);
	}

	@Override
	public void sendError(int status) throws IOException {
		requireNoRedirect();
		super.sendError(status);
		closeWith(new SentError(status, null));
	}

	@Override
	public void sendError(int status, String message) throws IOException {
		requireNoRedirect();
		super.sendError(status, message);
		closeWith(new SentError(status, message));
	}

	/**
	 * Ignores what is written after an error, as the container does.
	 */
	private void closeWith(SentError error) {
		flushWriter();
		this.body.close(true);
		setError(error);
	}

	/**
	 * Defers the redirect. A body that is kept with it must fit into what containers
	 * buffer before they commit the response.
	 */
	@Override
	public void sendRedirect(String location, int status, boolean clearBuffer) throws IOException {
		Assert.state(!isCommitted(), "The response has been committed");
		flushWriter();
		Assert.state(clearBuffer || this.body.size() <= getBufferSize() / 4,
				"The body is too long to be kept with a redirect");
		Redirect redirect = new Redirect(location, status, clearBuffer);
		if (isStreaming()) {
			redirect.sendTo((HttpServletResponse) getResponse());
		}
		else {
			this.body.close(clearBuffer);
			deferRedirect(redirect);
		}
	}

	private void flushWriter() {
		if (this.writer != null) {
			this.writer.flush();
		}
	}

	private void finishWriting() {
		flushWriter();
		applyWriterEncoding();
	}

	/**
	 * As containers do for their own writer: the content type names the encoding in which
	 * the text was written, even if the handler has set another one since. JSON is UTF-8
	 * by default.
	 */
	private void applyWriterEncoding() {
		if (this.writer != null && !isUtf8Json()) {
			setCharacterEncoding(this.writerEncoding);
		}
	}

	private boolean isUtf8Json() {
		String type = getContentType();
		return type != null && type.contains("json") && !type.contains("charset")
				&& this.writerEncoding.equalsIgnoreCase("UTF-8");
	}

}
