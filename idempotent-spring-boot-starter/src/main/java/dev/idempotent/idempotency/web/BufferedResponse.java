package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.BooleanSupplier;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * A response whose body is held back until it has been stored, unless it has to stream.
 */
final class BufferedResponse extends DeferredRedirectResponse {

	private final BufferedBody body;

	private boolean streamGiven;

	private @Nullable PrintWriter writer;

	private String writerEncoding = "";

	private BufferedResponse(HttpServletResponse response, BufferedBody body) {
		super(response);
		this.body = body;
	}

	/**
	 * Holds a response that streams if it has to.
	 * @param limit the longest body that is held, in bytes
	 * @param handlerStreams whether the handler is of a kind that streams
	 */
	static BufferedResponse streaming(HttpServletResponse response, int limit, BooleanSupplier handlerStreams) {
		return new BufferedResponse(response, new BufferedBody(response, limit, handlerStreams));
	}

	/**
	 * Holds a response of which nothing leaves, whatever becomes of it.
	 * @param limit the longest body that is held, in bytes
	 */
	static BufferedResponse whole(HttpServletResponse response, int limit) {
		return new BufferedResponse(response, new BufferedBody(response, limit, null));
	}

	/**
	 * Tells whether the body went to the client instead of being held.
	 */
	boolean isStreaming() {
		return this.body.isStreaming();
	}

	/**
	 * Tells whether the body was refused because it is longer than may be held.
	 */
	boolean isTooLong() {
		return this.body.isTooLong();
	}

	/**
	 * Tells whether nothing says what the answer is.
	 */
	boolean isUntouched() {
		flushWriter();
		return getStatus() == SC_OK && !isErrorSent() && !isStreaming() && !isTooLong() && this.body.size() == 0;
	}

	/**
	 * The answer as far as it has been written.
	 */
	CapturedResponse capture() {
		finishWriting();
		return CapturedResponse.of(this, stated(), this.body.held(), redirect(), error());
	}

	/**
	 * Sends what is held.
	 */
	void sendHeld() throws IOException {
		finishWriting();
		Redirect redirect = redirect();
		if (redirect == null) {
			this.body.sendHeld();
		}
		else {
			this.body.sendPart();
			redirect.sendTo((HttpServletResponse) getResponse());
		}
	}

	/**
	 * Takes back whatever was done to the response, a redirect included.
	 */
	void beginAnew() {
		withdrawRedirect();
		reset();
	}

	/**
	 * Takes a redirect back, for an answer to what went wrong after it.
	 */
	void withdrawRedirect() {
		if (redirect() != null) {
			hold(null);
			this.body.begin();
		}
	}

	@Override
	public ServletOutputStream getOutputStream() {
		if (this.writer != null) {
			throw new IllegalStateException("getWriter() has been called for this response");
		}
		this.streamGiven = true;
		return this.body;
	}

	@Override
	public PrintWriter getWriter() throws IOException {
		if (this.writer == null) {
			if (this.streamGiven) {
				throw new IllegalStateException("getOutputStream() has been called for this response");
			}
			this.writerEncoding = getCharacterEncoding();
			this.writer = new PrintWriter(new OutputStreamWriter(this.body, this.writerEncoding));
			stateWriterEncoding();
		}
		return this.writer;
	}

	/**
	 * Makes the language a header at once, where the container would do so at the very
	 * end.
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
		stated().clear();
		this.body.begin();
		this.streamGiven = false;
		this.writer = null;
		note(null);
	}

	@Override
	public void sendError(int status) throws IOException {
		requireNoRedirect();
		super.sendError(status);
		ended(new SentError(status, null));
	}

	@Override
	public void sendError(int status, String message) throws IOException {
		requireNoRedirect();
		super.sendError(status, message);
		ended(new SentError(status, message));
	}

	/**
	 * Whatever else is written is ignored, as the container does.
	 */
	private void ended(SentError error) {
		flushWriter();
		this.body.end(true);
		note(error);
	}

	/**
	 * Holds the redirect as it holds the body. A body that stays has to fit into what
	 * containers buffer before they commit.
	 */
	@Override
	public void sendRedirect(String location, int status, boolean clearBuffer) throws IOException {
		Assert.state(!isCommitted(), "The response has been committed");
		flushWriter();
		Assert.state(clearBuffer || this.body.size() <= getBufferSize() / 4,
				"The body is too long to be kept with a redirect");
		Redirect stated = new Redirect(location, status, clearBuffer);
		if (isStreaming()) {
			stated.sendTo((HttpServletResponse) getResponse());
		}
		else {
			this.body.end(clearBuffer);
			hold(stated);
		}
	}

	private void flushWriter() {
		if (this.writer != null) {
			this.writer.flush();
		}
	}

	private void finishWriting() {
		flushWriter();
		stateWriterEncoding();
	}

	/**
	 * What the container does with its own writer: the content type tells in which
	 * encoding the text was written, whatever the handler has set since. JSON is in UTF-8
	 * unless it says otherwise.
	 */
	private void stateWriterEncoding() {
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
