package dev.idempotent.idempotency.web;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * A request whose content has been read before it is handled: a form as the container
 * parses it, anything else into memory, where it can be read again.
 */
final class BufferedRequest extends HttpServletRequestWrapper {

	/**
	 * The attribute of a request that supplies whether a body of unstated length has
	 * begun to be read.
	 */
	static final String BEGUN = BufferedRequest.class.getName() + ".BEGUN";

	private static final int TRUSTED_LENGTH = 16 * 1024;

	private static final int MIN_GROWTH = 8 * 1024;

	private static final int GROWTH = 4;

	private final byte @Nullable [] body;

	private final @Nullable SortedMap<String, List<String>> form;

	private final @Nullable List<List<String>> parts;

	private byte @Nullable [] encoded;

	private @Nullable ServletInputStream stream;

	private @Nullable BufferedReader reader;

	private BufferedRequest(HttpServletRequest request, byte @Nullable [] body,
			@Nullable SortedMap<String, List<String>> form, @Nullable List<List<String>> parts) {
		super(request);
		this.body = body;
		this.form = form;
		this.parts = parts;
	}

	/**
	 * Reads a request.
	 * @param limit the longest body that is accepted, in bytes
	 * @throws RefusedRequestException if it is too large or malformed
	 * @throws IOException if it cannot be received
	 */
	static BufferedRequest read(HttpServletRequest request, int limit) throws IOException {
		requireReadable(request.getRequestURI());
		requireReadable(request.getQueryString());
		MediaType type = mediaType(request);
		if (isMultipart(type)) {
			List<List<String>> parts = readParts(request);
			if (parts != null) {
				// Parameters of text parts, too. The container has limited them.
				return new BufferedRequest(request, null, readOwnParameters(request, Integer.MAX_VALUE), parts);
			}
		}
		if (!isForm(type)) {
			byte[] body = readBody(request, limit);
			requireContent(request, body.length > 0);
			// Most requests: the container itself parses no body of this type.
			boolean plain = body.length > 0 && !(request instanceof ServletRequestWrapper);
			return new BufferedRequest(request, body, plain ? null : readOwnParameters(request, limit), null);
		}
		boolean parsed = request.getMethod().equals("POST") && request.getContentLengthLong() <= limit;
		SortedMap<String, List<String>> fields = parsed ? readForm(request, limit) : new TreeMap<>();
		// Empty unless a filter has the body, too, or the container parses no form of
		// this method. A filter of Spring may have parsed it then.
		byte[] body = readBody(request, limit);
		fields = (!parsed && body.length == 0) ? readForm(request, limit) : fields;
		requireContent(request, body.length > 0 || hasOwn(fields, request));
		return new BufferedRequest(request, body, fields, null);
	}

	/**
	 * Returns whether there are other fields than the parameters of the URL: fields of a
	 * form, of a filter that changes or adds some, or of a test.
	 */
	private static boolean hasOwn(SortedMap<String, List<String>> fields, HttpServletRequest request) {
		if (fields.isEmpty()) {
			return false;
		}
		Map<@Nullable String, List<@Nullable String>> inUrl = new HashMap<>();
		RequestUrl.query(request)
			.forEach((name, values) -> inUrl.put(RequestUrl.decode(name),
					values.stream().map(RequestUrl::decode).toList()));
		return !fields.equals(inUrl);
	}

	/**
	 * Reads the parameters of a request without a form, unless all of them come from the
	 * URL.
	 */
	private static @Nullable SortedMap<String, List<String>> readOwnParameters(HttpServletRequest request, int limit) {
		try {
			SortedMap<String, List<String>> parameters = readForm(request, limit);
			return hasOwn(parameters, request) ? parameters : null;
		}
		catch (RefusedRequestException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			// The URL has more than the container parses: a handler cannot read them
			// either.
			return null;
		}
	}

	/**
	 * Requires that the content was found: without it, different requests would be equal.
	 */
	private static void requireContent(HttpServletRequest request, boolean found) {
		if (!found && isContentSent(request)) {
			throw new IllegalStateException("Nothing was done: another filter has read the body of a request with an "
					+ "idempotency key, so that it cannot be compared. Place that filter behind the idempotency filter, "
					+ "or let it pass on a request whose body can be read again.");
		}
	}

	private static boolean isContentSent(HttpServletRequest request) {
		return request.getContentLengthLong() > 0
				|| (request.getAttribute(BEGUN) instanceof BooleanSupplier begun && begun.getAsBoolean());
	}

	private static boolean isMultipart(@Nullable MediaType type) {
		return type != null && type.equalsTypeAndSubtype(MediaType.MULTIPART_FORM_DATA);
	}

	/**
	 * Not a type with wildcards, for which the container parses no form.
	 */
	private static boolean isForm(@Nullable MediaType type) {
		return type != null && type.equalsTypeAndSubtype(MediaType.APPLICATION_FORM_URLENCODED);
	}

	/**
	 * Refuses a URL of which the container has replaced bytes that it could not decode:
	 * another URL could have become the same.
	 */
	private static void requireReadable(@Nullable String part) {
		if (part != null && part.indexOf('\ufffd') >= 0) {
			throw Problem.REQUEST_MALFORMED
				.refusal("The URL has characters that are not ASCII. Send them in percent-encoding.");
		}
	}

	private static SortedMap<String, List<String>> readForm(HttpServletRequest request, int limit) {
		SortedMap<String, List<String>> fields = new TreeMap<>();
		long length = 0;
		for (Map.Entry<String, String[]> field : request.getParameterMap().entrySet()) {
			List<String> values = List.of(field.getValue());
			fields.put(field.getKey(), values);
			length += values.stream().mapToLong((value) -> field.getKey().length() + value.length()).sum();
		}
		// A chunked form does not state its length.
		if (length > limit) {
			throw tooLarge(limit);
		}
		return fields;
	}

	/**
	 * Reads the parts, or returns {@code null} if the application parses multipart bodies
	 * itself.
	 */
	private static @Nullable List<List<String>> readParts(HttpServletRequest request) throws IOException {
		Collection<Part> parts;
		try {
			parts = request.getParts();
		}
		catch (IllegalStateException ex) {
			// Without a cause, multipart handling is not configured.
			if (ex.getCause() == null) {
				return null;
			}
			throw Problem.REQUEST_TOO_LARGE
				.refusal("This request, or a part of it, is larger than this service accepts.");
		}
		catch (IOException | ServletException ex) {
			throw Problem.REQUEST_MALFORMED.refusal("The multipart body cannot be read.");
		}
		if (parts.isEmpty() && isContentSent(request)) {
			throw Problem.REQUEST_MALFORMED.refusal("The multipart body has no part that can be read.");
		}
		List<List<String>> read = new ArrayList<>();
		for (Part part : parts) {
			read.add(List.of(part.getName(), Objects.requireNonNullElse(part.getSubmittedFileName(), ""),
					Objects.requireNonNullElse(part.getContentType(), ""), digest(part)));
		}
		return read;
	}

	private static String digest(Part part) throws IOException {
		try (InputStream content = part.getInputStream()) {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			content.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), digest));
			return HexFormat.of().formatHex(digest.digest());
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("SHA-256 is not available", ex);
		}
	}

	/**
	 * Reads into an array of the stated length, or of as much of it as the client is
	 * trusted with: more is allocated as bytes arrive.
	 */
	private static byte[] readBody(HttpServletRequest request, int limit) throws IOException {
		long stated = request.getContentLengthLong();
		if (stated > limit) {
			throw tooLarge(limit);
		}
		InputStream in = request.getInputStream();
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
			long grown = Math.max(MIN_GROWTH, GROWTH * (long) length);
			body = Arrays.copyOf(body, (int) Math.min((length < stated) ? stated : limit, grown));
			body[length] = (byte) next;
			length += 1 + in.readNBytes(body, length + 1, body.length - length - 1);
		}
		return Arrays.copyOf(body, length);
	}

	private static RefusedRequestException tooLarge(int limit) {
		return Problem.REQUEST_TOO_LARGE
			.refusal("The body of a request with an idempotency key may have at most " + limit + " bytes.");
	}

	/**
	 * Returns the body; empty for a form that was parsed.
	 */
	byte[] body() {
		return (this.body != null) ? this.body : new byte[0];
	}

	/**
	 * Returns the parameters by name, from the URL, a form, text parts and other filters;
	 * or {@code null} if there is neither a form nor a parameter that is not one of the
	 * URL.
	 */
	@Nullable SortedMap<String, List<String>> form() {
		return this.form;
	}

	/**
	 * Returns the parts of a multipart form in the order sent, or {@code null}: of each
	 * one the field, the file and the type, or empty strings, and the SHA-256 of its
	 * content. The body itself has a boundary that differs in each retry.
	 */
	@Nullable List<List<String>> parts() {
		return this.parts;
	}

	boolean isForm() {
		return isForm(mediaType(this));
	}

	/**
	 * Returns whether the body is JSON that every reader takes for UTF-8.
	 */
	boolean isJson() {
		MediaType type = mediaType(this);
		return type != null && type.getType().equals("application")
				&& (type.getSubtype().equals("json") || type.getSubtype().endsWith("+json")) && isUtf8();
	}

	/**
	 * Returns whether every reader of the body takes it for UTF-8: neither its type nor a
	 * filter states another charset.
	 */
	boolean isUtf8() {
		MediaType type = mediaType(this);
		return (type == null || isUtf8(type.getParameter("charset"))) && isUtf8(getCharacterEncoding());
	}

	private static boolean isUtf8(@Nullable String charset) {
		return charset == null || charset.replace("\"", "").equalsIgnoreCase("UTF-8");
	}

	private static @Nullable MediaType mediaType(HttpServletRequest request) {
		String type = request.getContentType();
		if (MediaType.APPLICATION_JSON_VALUE.equals(type)) {
			return MediaType.APPLICATION_JSON;
		}
		try {
			return (type != null) ? MediaType.parseMediaType(type) : null;
		}
		catch (InvalidMediaTypeException ex) {
			return null;
		}
	}

	/**
	 * Returns what the handler reads. The container has consumed the body of a form that
	 * it has parsed, so its fields are encoded again.
	 */
	private byte[] content(byte[] read) {
		if (this.form == null || read.length > 0 || !getMethod().equals("POST") || !isForm()) {
			return read;
		}
		if (this.encoded == null) {
			this.encoded = encode(this.form);
		}
		return this.encoded;
	}

	/**
	 * Encodes fields without the parameters of the URL, which come first.
	 */
	private byte[] encode(SortedMap<String, List<String>> fields) {
		Map<@Nullable String, Integer> inUrl = new HashMap<>();
		RequestUrl.query(this).forEach((name, values) -> inUrl.put(RequestUrl.decode(name), values.size()));
		Charset charset = (getCharacterEncoding() != null) ? Charset.forName(getCharacterEncoding())
				: StandardCharsets.UTF_8;
		List<String> pairs = new ArrayList<>();
		// In the order of the container.
		getParameterMap().keySet()
			.forEach((name) -> fields.getOrDefault(name, List.of())
				.stream()
				.skip(inUrl.getOrDefault(name, 0))
				.forEach((value) -> pairs
					.add(URLEncoder.encode(name, charset) + "=" + URLEncoder.encode(value, charset))));
		return String.join("&", pairs).getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public int getContentLength() {
		return (int) getContentLengthLong();
	}

	@Override
	public long getContentLengthLong() {
		long sent = super.getContentLengthLong();
		return (this.body == null || sent < 0 || content(this.body) == this.body) ? sent : content(this.body).length;
	}

	@Override
	public @Nullable String getHeader(String name) {
		String sent = super.getHeader(name);
		return (sent == null || !name.equalsIgnoreCase(HttpHeaders.CONTENT_LENGTH)) ? sent
				: Long.toString(getContentLengthLong());
	}

	@Override
	public Enumeration<String> getHeaders(String name) {
		return name.equalsIgnoreCase(HttpHeaders.CONTENT_LENGTH) && super.getHeader(name) != null
				? Collections.enumeration(List.of(Long.toString(getContentLengthLong()))) : super.getHeaders(name);
	}

	@Override
	public ServletInputStream getInputStream() throws IOException {
		if (this.body == null) {
			return super.getInputStream();
		}
		if (this.reader != null) {
			throw new IllegalStateException("getReader() has been called for this request");
		}
		if (this.stream == null) {
			this.stream = BodyStream.of(content(this.body));
		}
		return this.stream;
	}

	@Override
	public BufferedReader getReader() throws IOException {
		if (this.body == null) {
			return super.getReader();
		}
		if (this.reader == null) {
			if (this.stream != null) {
				throw new IllegalStateException("getInputStream() has been called for this request");
			}
			this.reader = reader(this, BodyStream.of(content(this.body)));
		}
		return this.reader;
	}

	private static BufferedReader reader(HttpServletRequest request, InputStream body) throws IOException {
		String encoding = request.getCharacterEncoding();
		return new BufferedReader(new InputStreamReader(body, (encoding != null) ? encoding : "ISO-8859-1"));
	}

	/**
	 * A request whose handler is not known yet. What mappings and interceptors read of
	 * its body is recorded, so that it can be compared and read again if the handler
	 * needs a key.
	 */
	static final class Unclaimed extends HttpServletRequestWrapper {

		private final int limit;

		private @Nullable ByteArrayOutputStream recorded;

		private @Nullable ServletInputStream stream;

		private @Nullable BufferedReader reader;

		private boolean handlerKnown;

		/**
		 * Creates a request.
		 * @param limit how much of the body is recorded at most, in bytes
		 */
		Unclaimed(HttpServletRequest request, int limit) {
			super(request);
			this.limit = limit;
		}

		/**
		 * Stops recording: the handler reads the body itself.
		 */
		void handlerKnown() {
			this.handlerKnown = true;
		}

		/**
		 * Returns the request at its start.
		 */
		HttpServletRequest atStart() {
			HttpServletRequest original = (HttpServletRequest) getRequest();
			ByteArrayOutputStream before = this.recorded;
			return (before == null) ? original : new HttpServletRequestWrapper(original) {

				@Override
				public ServletInputStream getInputStream() throws IOException {
					return new BodyStream(new ByteArrayInputStream(before.toByteArray()), super.getInputStream(), null);
				}

			};
		}

		/**
		 * Replaces the request for the handler.
		 */
		void continueWith(HttpServletRequest request) {
			setRequest(request);
			this.stream = null;
			this.reader = null;
		}

		private ServletInputStream open() throws IOException {
			ByteArrayOutputStream record = new LimitedRecord(this.limit);
			this.recorded = record;
			return new BodyStream(new ByteArrayInputStream(new byte[0]), super.getInputStream(), record);
		}

		@Override
		public ServletInputStream getInputStream() throws IOException {
			if (this.reader != null) {
				throw new IllegalStateException("getReader() has been called for this request");
			}
			if (this.stream == null) {
				if (this.handlerKnown) {
					return super.getInputStream();
				}
				this.stream = open();
			}
			return this.stream;
		}

		@Override
		public BufferedReader getReader() throws IOException {
			if (this.stream != null) {
				throw new IllegalStateException("getInputStream() has been called for this request");
			}
			if (this.reader == null) {
				if (this.handlerKnown) {
					return super.getReader();
				}
				this.reader = reader(this, open());
			}
			return this.reader;
		}

	}

	/**
	 * Bytes beyond the limit need not be kept: a longer body is refused.
	 */
	private static final class LimitedRecord extends ByteArrayOutputStream {

		private final int limit;

		LimitedRecord(int limit) {
			this.limit = limit;
		}

		@Override
		public synchronized void write(byte[] source, int offset, int length) {
			super.write(source, offset, (int) Math.min(length, Math.max(0, this.limit + 1L - size())));
		}

	}

	/**
	 * Bytes that were read before, and what the client has sent after them.
	 */
	private static final class BodyStream extends ServletInputStream {

		private final ByteArrayInputStream before;

		private final @Nullable ServletInputStream rest;

		private final @Nullable OutputStream record;

		/**
		 * Creates a stream.
		 * @param record gets what is read of the rest
		 */
		BodyStream(ByteArrayInputStream before, @Nullable ServletInputStream rest, @Nullable OutputStream record) {
			this.before = before;
			this.rest = rest;
			this.record = record;
		}

		static BodyStream of(byte[] body) {
			return new BodyStream(new ByteArrayInputStream(body), null, null);
		}

		@Override
		public int read() throws IOException {
			byte[] next = new byte[1];
			return (read(next, 0, 1) < 0) ? -1 : next[0] & 0xff;
		}

		@Override
		public int read(byte[] target, int offset, int length) throws IOException {
			int read = this.before.read(target, offset, length);
			if (read >= 0 || this.rest == null) {
				return read;
			}
			read = this.rest.read(target, offset, length);
			if (read > 0 && this.record != null) {
				this.record.write(target, offset, read);
			}
			return read;
		}

		@Override
		public byte[] readAllBytes() throws IOException {
			return (this.rest != null) ? super.readAllBytes() : this.before.readAllBytes();
		}

		@Override
		public int available() throws IOException {
			return this.before.available() + ((this.rest != null) ? this.rest.available() : 0);
		}

		@Override
		public boolean isFinished() {
			return this.before.available() == 0 && (this.rest == null || this.rest.isFinished());
		}

		@Override
		public boolean isReady() {
			return this.before.available() > 0 || this.rest == null || this.rest.isReady();
		}

		@Override
		public void setReadListener(ReadListener listener) {
			if (this.rest == null) {
				throw new IllegalStateException("The body has been read already; read it without a listener");
			}
			this.rest.setReadListener(listener);
		}

	}

}
