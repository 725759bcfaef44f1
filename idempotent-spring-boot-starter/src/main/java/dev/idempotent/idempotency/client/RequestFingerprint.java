package dev.idempotent.idempotency.client;

import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * Computes the fingerprint of a call, which distinguishes its retry from another call.
 */
final class RequestFingerprint {

	private RequestFingerprint() {
	}

	static Fingerprint of(HttpRequest request, byte[] body) {
		String boundary = boundary(request.getHeaders());
		return Fingerprint.of(List.of(bytes(request.getMethod().name()), bytes(request.getURI().toString()),
				(boundary != null) ? without(boundary, body) : body,
				bytes(String.valueOf(request.getHeaders().getFirst(KeyedRequest.HEADER)))));
	}

	/**
	 * Spring generates another boundary for each attempt.
	 */
	private static @Nullable String boundary(HttpHeaders headers) {
		try {
			MediaType type = headers.getContentType();
			String boundary = (type != null && type.getType().equals("multipart")) ? type.getParameter("boundary")
					: null;
			return (boundary != null) ? boundary.replace("\"", "") : null;
		}
		catch (InvalidMediaTypeException ex) {
			return null;
		}
	}

	private static byte[] without(String boundary, byte[] body) {
		return new String(body, StandardCharsets.ISO_8859_1).replace("--" + boundary, "--")
			.getBytes(StandardCharsets.ISO_8859_1);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
