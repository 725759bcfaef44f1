package dev.idempotent.idempotency.web;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import dev.idempotent.idempotency.StoredResponse;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * An HTTP answer as it is stored: status, the headers that mean the same on a later day,
 * and the body before compression.
 */
@SuppressWarnings("ArrayRecordComponent")
record CapturedResponse(int status, List<Header> headers, byte[] body, @Nullable Redirect redirect,
		@Nullable SentError error) {

	static final String REPLAYED = "Idempotent-Replayed";

	private static final byte FORMAT = 1;

	/**
	 * What earlier versions cannot read is only written where it is needed.
	 */
	private static final byte FORMAT_OF_REDIRECTS = 2;

	private static final byte FORMAT_OF_ERRORS = 3;

	/**
	 * Captures an answer.
	 * @param response its status and the type of its content
	 * @param stated its other headers
	 * @param body its body
	 * @param redirect the redirect that is yet to be sent with it, if any
	 * @param error the error that another filter has answered, and will again, if any
	 */
	static CapturedResponse of(HttpServletResponse response, ApplicationHeaders stated, byte[] body,
			@Nullable Redirect redirect, @Nullable SentError error) {
		List<Header> headers = new ArrayList<>();
		if (response.getContentType() != null) {
			headers.add(new Header(HttpHeaders.CONTENT_TYPE, response.getContentType(), true));
		}
		headers.addAll(stated.list());
		return new CapturedResponse(response.getStatus(), headers, body, redirect, error);
	}

	/**
	 * Sends the answer again. Its headers are set or added, as the handler did.
	 */
	void replayTo(HttpServletResponse response) throws IOException {
		response.setStatus(this.status);
		replayHeaders(response);
		response.setHeader(REPLAYED, "true");
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
	 * A value that is there already is not added, such as one of {@code Vary} that comes
	 * of CORS.
	 */
	private void replayHeaders(HttpServletResponse response) {
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
		try {
			ByteArrayOutputStream bytes = new ByteArrayOutputStream(this.body.length + 256);
			DataOutputStream out = new DataOutputStream(bytes);
			out.writeByte(format());
			out.writeInt(this.status);
			out.writeInt(this.headers.size());
			for (Header header : this.headers) {
				write(out, header.name().getBytes(StandardCharsets.UTF_8));
				write(out, header.value().getBytes(StandardCharsets.UTF_8));
			}
			write(out, this.body);
			if (this.redirect != null) {
				write(out, this.redirect.location().getBytes(StandardCharsets.UTF_8));
				out.writeBoolean(this.redirect.clearBuffer());
			}
			if (this.error != null) {
				out.writeBoolean(this.error.message() != null);
				write(out, Objects.requireNonNullElse(this.error.message(), "").getBytes(StandardCharsets.UTF_8));
			}
			// Earlier versions stop reading before this.
			for (Header header : this.headers) {
				out.writeBoolean(header.replaces());
			}
			return StoredResponse.of(bytes.toByteArray());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private byte format() {
		if (this.error != null) {
			return FORMAT_OF_ERRORS;
		}
		return (this.redirect != null) ? FORMAT_OF_REDIRECTS : FORMAT;
	}

	/**
	 * Decodes what {@link #encode()} gave.
	 * @return the answer, or {@code null} if it was not kept or a later version wrote it
	 */
	static @Nullable CapturedResponse decode(StoredResponse stored) {
		try {
			DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored.bytes()));
			int format = stored.isKept() ? in.readByte() : 0;
			if (format < FORMAT || format > FORMAT_OF_ERRORS) {
				return null;
			}
			int status = in.readInt();
			int count = in.readInt();
			String[][] texts = new String[count][];
			for (int i = 0; i < count; i++) {
				texts[i] = new String[] { readText(in), readText(in) };
			}
			byte[] body = read(in);
			Redirect redirect = (format == FORMAT_OF_REDIRECTS) ? new Redirect(readText(in), status, in.readBoolean())
					: null;
			SentError error = (format == FORMAT_OF_ERRORS) ? readError(in, status) : null;
			return new CapturedResponse(status, readHeaders(in, texts), body, redirect, error);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("A stored response is cut short", ex);
		}
	}

	/**
	 * Earlier versions did not write whether a header replaces those that are there.
	 */
	private static List<Header> readHeaders(DataInputStream in, String[][] texts) throws IOException {
		boolean stated = in.available() > 0;
		Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
		List<Header> headers = new ArrayList<>();
		for (String[] text : texts) {
			boolean first = names.add(text[0]);
			headers.add(new Header(text[0], text[1], stated ? in.readBoolean() : first));
		}
		return headers;
	}

	private static SentError readError(DataInputStream in, int status) throws IOException {
		boolean stated = in.readBoolean();
		String message = readText(in);
		return new SentError(status, stated ? message : null);
	}

	private static void write(DataOutputStream out, byte[] bytes) throws IOException {
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	private static byte[] read(DataInputStream in) throws IOException {
		return in.readNBytes(in.readInt());
	}

	private static String readText(DataInputStream in) throws IOException {
		return new String(read(in), StandardCharsets.UTF_8);
	}

	record Header(String name, String value, boolean replaces) {
	}

}
