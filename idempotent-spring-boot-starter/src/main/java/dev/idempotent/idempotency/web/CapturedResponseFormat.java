package dev.idempotent.idempotency.web;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.web.ApplicationHeaders.Header;
import dev.idempotent.idempotency.web.CapturedResponse.Redirect;
import dev.idempotent.idempotency.web.CapturedResponse.SentError;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a stored response. Every version reads what earlier versions wrote, and
 * writes a format that earlier versions cannot read only where it is needed.
 */
final class CapturedResponseFormat {

	private static final byte PLAIN = 1;

	private static final byte WITH_REDIRECT = 2;

	private static final byte WITH_ERROR = 3;

	private static final int BYTES_PER_HEADER = 64;

	private CapturedResponseFormat() {
	}

	static StoredResponse encode(CapturedResponse response) {
		return encode(response, new byte[0]);
	}

	/**
	 * Encodes a response that was reduced, so that it does not equal the stored response
	 * of another run with the same remainder.
	 */
	static StoredResponse encodeDistinct(CapturedResponse response) {
		return encode(response, UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII));
	}

	private static StoredResponse encode(CapturedResponse response, byte[] suffix) {
		try {
			int estimated = response.body().length + BYTES_PER_HEADER * (1 + response.headers().size());
			ByteArrayOutputStream bytes = new ByteArrayOutputStream(estimated);
			write(response, new DataOutputStream(bytes));
			bytes.writeBytes(suffix);
			return StoredResponse.of(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void write(CapturedResponse response, DataOutputStream out) throws IOException {
		Redirect redirect = response.redirect();
		SentError error = response.error();
		out.writeByte((error != null) ? WITH_ERROR : (redirect != null) ? WITH_REDIRECT : PLAIN);
		out.writeInt(response.status());
		out.writeInt(response.headers().size());
		for (Header header : response.headers()) {
			write(out, header.name());
			write(out, header.value());
		}
		write(out, response.body());
		if (redirect != null) {
			write(out, redirect.location());
			out.writeBoolean(redirect.clearBuffer());
		}
		if (error != null) {
			out.writeBoolean(error.message() != null);
			write(out, Objects.requireNonNullElse(error.message(), ""));
		}
		// Earlier versions stop reading before this.
		for (Header header : response.headers()) {
			out.writeBoolean(header.replaces());
		}
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
		String[][] texts = new String[count][];
		for (int i = 0; i < count; i++) {
			texts[i] = new String[] { readText(in), readText(in) };
		}
		byte[] body = read(in);
		Redirect redirect = (format == WITH_REDIRECT) ? new Redirect(readText(in), status, in.readBoolean()) : null;
		SentError error = (format == WITH_ERROR) ? readError(in, status) : null;
		return new CapturedResponse(status, readHeaders(in, texts), body, redirect, error);
	}

	/**
	 * Earlier versions did not write whether a header replaces existing values.
	 */
	private static List<Header> readHeaders(DataInputStream in, String[][] texts) throws IOException {
		boolean written = in.available() > 0;
		Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
		List<Header> headers = new ArrayList<>();
		for (String[] text : texts) {
			boolean first = names.add(text[0]);
			headers.add(new Header(text[0], text[1], written ? in.readBoolean() : first));
		}
		return headers;
	}

	private static SentError readError(DataInputStream in, int status) throws IOException {
		boolean hasMessage = in.readBoolean();
		String message = readText(in);
		return new SentError(status, hasMessage ? message : null);
	}

	private static void write(DataOutputStream out, String text) throws IOException {
		write(out, text.getBytes(StandardCharsets.UTF_8));
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

}
