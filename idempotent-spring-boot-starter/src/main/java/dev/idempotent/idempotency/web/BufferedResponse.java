package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

import dev.idempotent.idempotency.web.CapturedResponse.Header;
import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import jakarta.servlet.http.HttpSession;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * A response whose body is buffered until it has been stored, unless it must stream. A
 * redirect is deferred, because some containers would send it at once: from then on the
 * response behaves like a committed one, its status and headers cannot change.
 */
final class BufferedResponse extends HttpServletResponseWrapper {

	/**
	 * The format of RFC 9110, with two digits for the day.
	 */
	private static final DateTimeFormatter DATE = DateTimeFormatter
		.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US)
		.withZone(ZoneOffset.UTC);

	private final Body body;

	/**
	 * The headers as set by the application behind the {@link IdempotencyFilter}, without
	 * those that outer filters add meanwhile.
	 */
	private final Map<String, List<Header>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

	private Map<String, List<Header>> headersAtStart = Map.of();

	private Map<String, Collection<String>> allHeadersAtStart = Map.of();

	private @Nullable Redirect redirect;

	private @Nullable SentError error;

	private boolean sent;

	/**
	 * Whether the response cannot change any more, as one that is committed.
	 */
	private boolean closed;

	private boolean outputStreamUsed;

	private @Nullable PrintWriter writer;

	private String writerEncoding = "";

	private BufferedResponse(HttpServletResponse response, Body body) {
		super(response);
		this.body = body;
	}

	/**
	 * Buffers a response that may stream.
	 * @param limit the longest body that is buffered, in bytes
	 * @param handlerStreams whether the handler streams its response
	 */
	static BufferedResponse streaming(HttpServletResponse response, int limit, BooleanSupplier handlerStreams) {
		return new BufferedResponse(response, new Body(response, limit, handlerStreams));
	}

	/**
	 * Buffers a response of which nothing is sent before {@link #sendBuffered()}.
	 * @param limit the longest body that is buffered, in bytes
	 */
	static BufferedResponse withoutStreaming(HttpServletResponse response, int limit) {
		BufferedResponse buffered = new BufferedResponse(response, new Body(response, limit, null));
		buffered.markStart();
		return buffered;
	}

	/**
	 * Returns whether the body was streamed to the client instead of buffered.
	 */
	boolean isStreaming() {
		return this.body.streaming;
	}

	/**
	 * Returns whether the body was rejected because it exceeds the limit.
	 */
	boolean isTooLong() {
		return this.body.tooLong;
	}

	/**
	 * Returns whether the application has sent an error.
	 */
	boolean isErrorSent() {
		return this.error != null;
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
		List<Header> captured = new ArrayList<>();
		if (getContentType() != null) {
			captured.add(new Header(HttpHeaders.CONTENT_TYPE, getContentType(), true));
		}
		this.headers.values().forEach(captured::addAll);
		return new CapturedResponse(getStatus(), captured, this.body.buffer.toByteArray(), this.redirect, this.error);
	}

	/**
	 * Sends the buffered response.
	 */
	void sendBuffered() throws IOException {
		this.sent = true;
		finishWriting();
		if (this.redirect == null) {
			this.body.send();
		}
		else {
			this.body.sendWithoutLength();
			this.redirect.sendTo((HttpServletResponse) getResponse());
		}
	}

	/**
	 * Flushes what {@link #sendBuffered()} has sent, if the container does not write the
	 * rest of it: nothing that fails later can replace it.
	 */
	void flushSent() throws IOException {
		if (this.sent && this.redirect == null && this.error == null) {
			getResponse().flushBuffer();
			// A filter may keep the response and not flush it.
			close();
		}
	}

	private void close() {
		this.body.close(true);
		this.closed = true;
	}

	/**
	 * Creates a response that accepts nothing: another one has been sent.
	 */
	static BufferedResponse closed(HttpServletResponse response) {
		BufferedResponse closed = new BufferedResponse(response, new Body(response, 0, null));
		closed.close();
		return closed;
	}

	/**
	 * Marks the headers that filters and interceptors have set before the handler runs.
	 */
	private void markStart() {
		this.allHeadersAtStart = new LinkedHashMap<>();
		getHeaderNames().forEach((name) -> this.allHeadersAtStart.put(name, List.copyOf(getHeaders(name))));
		this.headersAtStart = new LinkedHashMap<>();
		this.headers.forEach((name, values) -> this.headersAtStart.put(name, new ArrayList<>(values)));
	}

	/**
	 * Resets the response, even if it was redirected, to the headers that were marked.
	 * Keeps the cookie of a session that has been created since: a rollback does not end
	 * it.
	 */
	void restoreStart(HttpServletRequest request) {
		Set<String> cookies = new LinkedHashSet<>(
				this.allHeadersAtStart.getOrDefault(HttpHeaders.SET_COOKIE, List.of()));
		HttpSession session = request.getSession(false);
		if (session != null) {
			getHeaders(HttpHeaders.SET_COOKIE).stream()
				.filter((cookie) -> cookie.contains("=" + session.getId()))
				.forEach(cookies::add);
		}
		withdrawRedirect();
		reset();
		this.headersAtStart.forEach((name, values) -> this.headers.put(name, new ArrayList<>(values)));
		HttpServletResponse target = (HttpServletResponse) getResponse();
		this.allHeadersAtStart.forEach((name, values) -> values.forEach((value) -> target.addHeader(name, value)));
		// Some containers keep the session cookie on a reset.
		Iterator<String> values = cookies.iterator();
		if (values.hasNext()) {
			target.setHeader(HttpHeaders.SET_COOKIE, values.next());
		}
		values.forEachRemaining((cookie) -> target.addHeader(HttpHeaders.SET_COOKIE, cookie));
	}

	/**
	 * Starts the headers of an error page with those set before the error, except those
	 * that the container has removed.
	 */
	void takeOverHeaders(BufferedResponse before) {
		before.headers.forEach((name, values) -> {
			if (containsHeader(name)) {
				this.headers.put(name, new ArrayList<>(values));
			}
		});
	}

	/**
	 * Discards a redirect in favor of the response to a later failure.
	 */
	void withdrawRedirect() {
		if (this.redirect != null) {
			this.redirect = null;
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

	@Override
	public void flushBuffer() throws IOException {
		if (this.closed) {
			return;
		}
		flushWriter();
		this.body.flush();
	}

	@Override
	public void resetBuffer() {
		requireNoRedirect();
		flushWriter();
		super.resetBuffer();
		this.body.buffer.reset();
	}

	@Override
	public void reset() {
		requireNoRedirect();
		super.reset();
		this.headers.clear();
		this.body.reopen();
		this.outputStreamUsed = false;
		this.writer = null;
		this.error = null;
	}

	@Override
	public boolean isCommitted() {
		return this.redirect != null || this.closed || super.isCommitted();
	}

	/**
	 * A wrapper of another filter that handles the error may not have set its status yet.
	 */
	@Override
	public int getStatus() {
		if (this.error != null) {
			return this.error.status();
		}
		return (this.redirect != null) ? this.redirect.status() : super.getStatus();
	}

	@Override
	public void sendError(int status) throws IOException {
		if (!isSentAsStatus(status)) {
			super.sendError(status);
			closeWith(new SentError(status, null));
		}
	}

	@Override
	public void sendError(int status, String message) throws IOException {
		if (!isSentAsStatus(status)) {
			super.sendError(status, message);
			closeWith(new SentError(status, message));
		}
	}

	/**
	 * Turns a status below 400, such as the status of a {@code ResponseStatus} with a
	 * reason, into a response without a body if nothing may be sent before
	 * {@link #sendBuffered()}.
	 */
	private boolean isSentAsStatus(int status) {
		requireNoRedirect();
		if (this.body.mayStream() || status >= SC_BAD_REQUEST) {
			return false;
		}
		resetBuffer();
		setStatus(status);
		return true;
	}

	/**
	 * Ignores what is written after an error, as the container does.
	 */
	private void closeWith(SentError sent) {
		flushWriter();
		this.body.close(true);
		this.error = sent;
	}

	@Override
	public void sendRedirect(String location) throws IOException {
		sendRedirect(location, SC_FOUND, true);
	}

	@Override
	public void sendRedirect(String location, int status) throws IOException {
		sendRedirect(location, status, true);
	}

	@Override
	public void sendRedirect(String location, boolean clearBuffer) throws IOException {
		sendRedirect(location, SC_FOUND, clearBuffer);
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
		Redirect sent = new Redirect(location, status, clearBuffer);
		if (isStreaming()) {
			sent.sendTo((HttpServletResponse) getResponse());
		}
		else {
			this.body.close(clearBuffer);
			this.redirect = sent;
		}
	}

	private void requireNoRedirect() {
		Assert.state(this.redirect == null, "The response has been redirected");
		Assert.state(!this.closed, "The response has been committed");
	}

	private boolean mayChange() {
		return this.redirect == null && !this.closed;
	}

	@Override
	public void setStatus(int status) {
		if (mayChange()) {
			super.setStatus(status);
		}
	}

	/**
	 * Spring MVC removes a header by setting {@code null} before it adds values.
	 */
	@Override
	public void setHeader(String name, @Nullable String value) {
		if (mayChange()) {
			// A committed response ignores headers.
			if (!isCommitted()) {
				this.headers.put(name, new ArrayList<>());
				record(name, value);
			}
			super.setHeader(name, value);
		}
	}

	@Override
	public void addHeader(String name, @Nullable String value) {
		if (mayChange()) {
			if (!isCommitted()) {
				record(name, value);
			}
			super.addHeader(name, value);
		}
	}

	private void record(String name, @Nullable String value) {
		if (value != null && CapturedResponse.canStore(name)) {
			List<Header> values = this.headers.get(name);
			boolean replaces = values != null && values.isEmpty();
			this.headers.computeIfAbsent(name, (key) -> new ArrayList<>()).add(new Header(name, value, replaces));
		}
	}

	@Override
	public void setIntHeader(String name, int value) {
		setHeader(name, Integer.toString(value));
	}

	@Override
	public void addIntHeader(String name, int value) {
		addHeader(name, Integer.toString(value));
	}

	@Override
	public void setDateHeader(String name, long date) {
		setHeader(name, DATE.format(Instant.ofEpochMilli(date)));
	}

	@Override
	public void addDateHeader(String name, long date) {
		addHeader(name, DATE.format(Instant.ofEpochMilli(date)));
	}

	@Override
	public void addCookie(Cookie cookie) {
		if (mayChange()) {
			super.addCookie(cookie);
		}
	}

	@Override
	public void setContentType(@Nullable String type) {
		if (mayChange()) {
			super.setContentType(type);
		}
	}

	@Override
	public void setContentLength(int length) {
		if (mayChange()) {
			super.setContentLength(length);
		}
	}

	@Override
	public void setContentLengthLong(long length) {
		if (mayChange()) {
			super.setContentLengthLong(length);
		}
	}

	@Override
	public void setCharacterEncoding(@Nullable String encoding) {
		if (mayChange()) {
			super.setCharacterEncoding(encoding);
		}
	}

	@Override
	public void setCharacterEncoding(@Nullable Charset encoding) {
		if (mayChange()) {
			super.setCharacterEncoding(encoding);
		}
	}

	/**
	 * Sets the language as a header now; the container would only do so at the end.
	 */
	@Override
	public void setLocale(Locale locale) {
		if (mayChange()) {
			super.setLocale(locale);
		}
		setHeader(HttpHeaders.CONTENT_LANGUAGE, locale.toLanguageTag());
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

	/**
	 * The body. If streaming is allowed, it streams to the client as soon as it exceeds
	 * the limit, or from its start if its handler or content type is for streaming.
	 */
	private static final class Body extends ServletOutputStream {

		private static final int INITIAL_SIZE = 256;

		private final HttpServletResponse target;

		private final int limit;

		/**
		 * Whether the handler streams its response; {@code null} if the body must not be
		 * streamed.
		 */
		private final @Nullable BooleanSupplier handlerStreams;

		private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(INITIAL_SIZE);

		private boolean streaming;

		private boolean tooLong;

		private boolean closed;

		Body(HttpServletResponse target, int limit, @Nullable BooleanSupplier handlerStreams) {
			this.target = target;
			this.limit = limit;
			this.handlerStreams = handlerStreams;
		}

		int size() {
			return this.buffer.size();
		}

		/**
		 * Discards the body and accepts a new one.
		 */
		void reopen() {
			this.buffer.reset();
			this.closed = false;
			this.tooLong = false;
		}

		/**
		 * Ignores everything that is written from now on.
		 * @param discard whether what was written before is discarded, too
		 */
		void close(boolean discard) {
			if (discard) {
				this.buffer.reset();
			}
			this.closed = true;
		}

		/**
		 * Sends the buffered bytes, with their number as the content length.
		 */
		void send() throws IOException {
			if (size() > 0 && !this.target.containsHeader(HttpHeaders.CONTENT_LENGTH)) {
				this.target.setContentLength(size());
			}
			sendWithoutLength();
		}

		/**
		 * Sends the buffered bytes, as the beginning of a response that is not complete
		 * yet.
		 */
		void sendWithoutLength() throws IOException {
			if (size() > 0) {
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
			boolean fits = length <= this.limit - size();
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

		boolean mayStream() {
			return this.handlerStreams != null;
		}

		private static boolean isStreamingType(@Nullable String type) {
			return type != null && (type.startsWith("text/event-stream") || type.startsWith("application/x-ndjson"));
		}

		private void startStreaming() throws IOException {
			this.streaming = true;
			sendWithoutLength();
			this.buffer.reset();
		}

	}

}
