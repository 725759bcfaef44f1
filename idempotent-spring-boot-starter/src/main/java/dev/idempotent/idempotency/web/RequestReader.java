package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.idempotency.web.ReadRequest.PartDigest;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import org.jspecify.annotations.Nullable;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * Reads the content of a request so that the handler can read it again. Bodies are
 * buffered in memory up to a limit; forms are parsed by the container, within its own
 * limits.
 */
final class RequestReader {

	private final int limit;

	RequestReader(int limit) {
		this.limit = limit;
	}

	/**
	 * Reads a request.
	 * @throws RefusedRequestException if it is too large or malformed
	 * @throws IOException if it cannot be received
	 */
	ReadRequest read(HttpServletRequest request) throws IOException {
		requireReadable(request.getRequestURI());
		requireReadable(request.getQueryString());
		MediaType type = mediaType(request.getContentType());
		if (type != null && MediaType.MULTIPART_FORM_DATA.isCompatibleWith(type)) {
			List<PartDigest> parts = parts(request);
			if (parts != null) {
				return new ReadRequest(request, new ReadRequest.Multipart(parts));
			}
		}
		boolean form = type != null && MediaType.APPLICATION_FORM_URLENCODED.isCompatibleWith(type);
		if (form && request.getMethod().equals("POST") && request.getContentLengthLong() <= this.limit) {
			return new ReadRequest(request, new ReadRequest.Form(fields(request)));
		}
		BufferedRequest buffered = BufferedRequest.read(request, this.limit);
		// For other methods the container parses no form, but a filter of Spring may
		// have.
		return (form && buffered.body().length == 0) ? new ReadRequest(buffered, new ReadRequest.Form(fields(request)))
				: new ReadRequest(buffered, new ReadRequest.Body(buffered.body(), isJson(type) && isUtf8(request)));
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

	/**
	 * Returns whether every reader of a body takes it for UTF-8: neither its type nor a
	 * filter states another charset.
	 */
	static boolean isUtf8(HttpServletRequest request) {
		MediaType type = mediaType(request.getContentType());
		return (type == null || isUtf8(type.getParameter("charset"))) && isUtf8(request.getCharacterEncoding());
	}

	private static boolean isUtf8(@Nullable String charset) {
		return charset == null || charset.replace("\"", "").equalsIgnoreCase("UTF-8");
	}

	private SortedMap<String, List<String>> fields(HttpServletRequest request) {
		SortedMap<String, List<String>> fields = new TreeMap<>();
		long length = 0;
		for (Map.Entry<String, String[]> field : request.getParameterMap().entrySet()) {
			List<String> values = List.of(field.getValue());
			fields.put(field.getKey(), values);
			length += values.stream().mapToLong((value) -> field.getKey().length() + value.length()).sum();
		}
		// A chunked form does not state its length.
		if (length > this.limit) {
			throw BufferedRequest.tooLarge(this.limit);
		}
		return fields;
	}

	/**
	 * Reads the parts, or returns {@code null} if the application parses multipart bodies
	 * itself.
	 */
	private static @Nullable List<PartDigest> parts(HttpServletRequest request) throws IOException {
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
		List<PartDigest> digests = new ArrayList<>();
		for (Part part : parts) {
			digests.add(new PartDigest(part.getName(), orEmpty(part.getSubmittedFileName()),
					orEmpty(part.getContentType()), digest(part)));
		}
		return digests;
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

	private static boolean isJson(@Nullable MediaType type) {
		return type != null && type.getType().equals("application")
				&& (type.getSubtype().equals("json") || type.getSubtype().endsWith("+json"));
	}

	private static @Nullable MediaType mediaType(@Nullable String contentType) {
		if (MediaType.APPLICATION_JSON_VALUE.equals(contentType)) {
			return MediaType.APPLICATION_JSON;
		}
		try {
			return (contentType != null) ? MediaType.parseMediaType(contentType) : null;
		}
		catch (InvalidMediaTypeException ex) {
			return null;
		}
	}

	private static String orEmpty(@Nullable String text) {
		return (text != null) ? text : "";
	}

}
