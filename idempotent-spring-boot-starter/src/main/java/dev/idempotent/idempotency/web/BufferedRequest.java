package dev.idempotent.idempotency.web;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import org.jspecify.annotations.Nullable;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * A request whose content has been read before it is handled: a form as the container
 * parses it, anything else into memory, where it can be read again.
 */
final class BufferedRequest extends HttpServletRequestWrapper {

	private static final int TRUSTED_LENGTH = 16 * 1024;

	private static final int MIN_GROWTH = 8 * 1024;

	private static final int GROWTH = 4;

	private final byte @Nullable [] body;

	private final @Nullable SortedMap<String, List<String>> form;

	private final @Nullable List<List<String>> parts;

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
		if (type != null && MediaType.MULTIPART_FORM_DATA.isCompatibleWith(type)) {
			List<List<String>> parts = readParts(request);
			if (parts != null) {
				return new BufferedRequest(request, null, null, parts);
			}
		}
		boolean form = type != null && MediaType.APPLICATION_FORM_URLENCODED.isCompatibleWith(type);
		if (form && request.getMethod().equals("POST") && request.getContentLengthLong() <= limit) {
			return new BufferedRequest(request, null, readForm(request, limit), null);
		}
		byte[] body = readBody(request, limit);
		// For other methods the container parses no form, but a filter of Spring may
		// have.
		return new BufferedRequest(request, body, (form && body.length == 0) ? readForm(request, limit) : null, null);
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
	 * Returns the body; empty for forms.
	 */
	byte[] body() {
		return (this.body != null) ? this.body : new byte[0];
	}

	/**
	 * Returns the fields of a form by name, including the parameters of the URL, or
	 * {@code null}.
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

	@Override
	public ServletInputStream getInputStream() throws IOException {
		if (this.body == null) {
			return super.getInputStream();
		}
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
		if (this.body == null) {
			return super.getReader();
		}
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

	/**
	 * A request whose content is read, and can be read again, if a handler mapping reads
	 * it.
	 */
	static final class Unread extends HttpServletRequestWrapper {

		private final int limit;

		private @Nullable BufferedRequest read;

		private @Nullable RefusedRequestException refusal;

		Unread(HttpServletRequest request, int limit) {
			super(request);
			this.limit = limit;
		}

		/**
		 * Returns the request with its whole content, for the handler.
		 * @throws RefusedRequestException if a handler mapping has read a part of it only
		 */
		HttpServletRequest whole() {
			if (this.refusal != null) {
				throw this.refusal;
			}
			HttpServletRequest request = (HttpServletRequest) getRequest();
			return (this.read == null) ? request
					: new BufferedRequest(request, this.read.body, this.read.form, this.read.parts);
		}

		private BufferedRequest read() throws IOException {
			try {
				if (this.read == null) {
					this.read = BufferedRequest.read((HttpServletRequest) getRequest(), this.limit);
				}
				return this.read;
			}
			catch (RefusedRequestException ex) {
				this.refusal = ex;
				throw ex;
			}
		}

		@Override
		public ServletInputStream getInputStream() throws IOException {
			return read().getInputStream();
		}

		@Override
		public BufferedReader getReader() throws IOException {
			return read().getReader();
		}

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
