package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

import dev.idempotent.idempotency.StoredResponse;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.util.Assert;

/**
 * An HTTP response as it is stored and replayed: the status, the headers that are valid
 * on a replay, and the body before compression.
 *
 * @param status the status, such as 201
 * @param headers the headers in the order set
 * @param body the body
 * @param redirect the redirect that is sent with it, if any
 * @param error the error that another filter has handled, and will handle again, if any
 */
@SuppressWarnings("ArrayRecordComponent")
record CapturedResponse(int status, List<Header> headers, byte[] body, @Nullable Redirect redirect,
		@Nullable SentError error) {

	static final String REPLAYED = "Idempotent-Replayed";

	/**
	 * Hop-by-hop (RFC 9110, section 7.6.1), or specific to the one response or
	 * connection.
	 */
	private static final Set<String> NOT_STORED = Set.of("connection", "content-length", "content-type", "date",
			"idempotency-receipt", "keep-alive", "proxy-authenticate", "proxy-connection", "set-cookie", "te",
			"trailer", "transfer-encoding", "upgrade");

	private static final byte PLAIN = 1;

	private static final byte WITH_REDIRECT = 2;

	private static final byte WITH_ERROR = 3;

	private static final int BYTES_PER_HEADER = 64;

	/**
	 * Returns whether a header, other than the content type, can be stored.
	 */
	static boolean canStore(String header) {
		String name = header.toLowerCase(Locale.ROOT);
		return !NOT_STORED.contains(name) && !name.startsWith("access-control-");
	}

	void replayTo(HttpServletResponse response) throws IOException {
		response.setHeader(REPLAYED, "true");
		sendTo(response);
	}

	/**
	 * Sends the response. Headers are set or added, as the handler did.
	 */
	void sendTo(HttpServletResponse response) throws IOException {
		response.setStatus(this.status);
		sendHeaders(response);
		if (this.body.length > 0) {
			if (this.redirect == null) {
				response.setContentLength(this.body.length);
			}
			response.getOutputStream().write(this.body);
		}
		if (this.redirect != null) {
			this.redirect.sendTo(response);
		}
		if (this.error != null) {
			this.error.sendTo(response);
		}
	}

	/**
	 * Does not add a value that is already present, such as one of {@code Vary} that was
	 * set by CORS processing.
	 */
	private void sendHeaders(HttpServletResponse response) {
		Map<String, Collection<String>> present = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		for (Header header : this.headers) {
			if (header.name().equals(HttpHeaders.CONTENT_TYPE)) {
				response.setContentType(header.value());
			}
			else if (header.replaces()) {
				response.setHeader(header.name(), header.value());
			}
			else if (!present.computeIfAbsent(header.name(), (name) -> List.copyOf(response.getHeaders(name)))
				.contains(header.value())) {
				response.addHeader(header.name(), header.value());
			}
		}
	}

	StoredResponse encode() {
		return encode(new byte[0]);
	}

	/**
	 * Encodes a response that was reduced, so that it does not equal the stored response
	 * of another run with the same remainder.
	 */
	StoredResponse encodeDistinct() {
		return encode(UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII));
	}

	private StoredResponse encode(byte[] suffix) {
		try {
			ByteArrayOutputStream bytes = new ByteArrayOutputStream(
					this.body.length + BYTES_PER_HEADER * (1 + this.headers.size()));
			write(new DataOutputStream(bytes));
			bytes.writeBytes(suffix);
			return StoredResponse.of(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void write(DataOutputStream out) throws IOException {
		out.writeByte((this.error != null) ? WITH_ERROR : (this.redirect != null) ? WITH_REDIRECT : PLAIN);
		out.writeInt(this.status);
		out.writeInt(this.headers.size());
		for (Header header : this.headers) {
			write(out, header.name());
			write(out, header.value());
			out.writeBoolean(header.replaces());
		}
		write(out, this.body);
		if (this.redirect != null) {
			write(out, this.redirect.location());
			out.writeBoolean(this.redirect.clearBuffer());
		}
		if (this.error != null) {
			out.writeBoolean(this.error.message() != null);
			write(out, (this.error.message() != null) ? this.error.message() : "");
		}
	}

	private static void write(DataOutputStream out, String text) throws IOException {
		write(out, text.getBytes(StandardCharsets.UTF_8));
	}

	private static void write(DataOutputStream out, byte[] bytes) throws IOException {
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	/**
	 * Decodes a stored response.
	 * @return {@code null} if the response was not kept or a later version wrote it
	 */
	static @Nullable CapturedResponse decode(StoredResponse stored) {
		try {
			DataInputStream in = new DataInputStream(stored.newInputStream());
			int format = stored.isKept() ? in.readByte() : 0;
			return (format >= PLAIN && format <= WITH_ERROR) ? read(in, format) : null;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("A stored response is truncated", ex);
		}
	}

	private static CapturedResponse read(DataInputStream in, int format) throws IOException {
		int status = in.readInt();
		int count = in.readInt();
		List<Header> headers = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			headers.add(new Header(readText(in), readText(in), in.readBoolean()));
		}
		byte[] body = read(in);
		Redirect redirect = (format == WITH_REDIRECT) ? new Redirect(readText(in), status, in.readBoolean()) : null;
		SentError error = null;
		if (format == WITH_ERROR) {
			boolean hasMessage = in.readBoolean();
			String message = readText(in);
			error = new SentError(status, hasMessage ? message : null);
		}
		return new CapturedResponse(status, headers, body, redirect, error);
	}

	private static byte[] read(DataInputStream in) throws IOException {
		return in.readNBytes(in.readInt());
	}

	private static String readText(DataInputStream in) throws IOException {
		return new String(read(in), StandardCharsets.UTF_8);
	}

	/**
	 * One value of a header.
	 *
	 * @param name the name as set
	 * @param value the value
	 * @param replaces whether it replaces the values that are present
	 */
	record Header(String name, String value, boolean replaces) {
	}

	/**
	 * A redirect that is sent as the last step, so that the container and the wrappers of
	 * other filters may still rewrite its location.
	 *
	 * @param location the location as set by the application
	 * @param status the status, such as 302
	 * @param clearBuffer whether the body written before is discarded
	 */
	record Redirect(String location, int status, boolean clearBuffer) {

		Redirect {
			Assert.notNull(location, "A redirect needs a location");
		}

		/**
		 * Sends the redirect by the most common method with this meaning, because a
		 * wrapper may have overridden only that one.
		 */
		void sendTo(HttpServletResponse response) throws IOException {
			if (!this.clearBuffer) {
				response.sendRedirect(this.location, this.status, false);
			}
			else if (this.status == HttpServletResponse.SC_FOUND) {
				response.sendRedirect(this.location);
			}
			else {
				response.sendRedirect(this.location, this.status);
			}
		}

	}

	/**
	 * An error sent by the application and handled by a wrapper of another filter instead
	 * of the container.
	 *
	 * @param status the status, such as 404
	 * @param message the message, if any
	 */
	record SentError(int status, @Nullable String message) {

		void sendTo(HttpServletResponse response) throws IOException {
			if (this.message == null) {
				response.sendError(this.status);
			}
			else {
				response.sendError(this.status, this.message);
			}
		}

	}

}
