package dev.idempotent.idempotency.web;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.json.CanonicalJson;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.util.UriUtils;

/**
 * Digests what a request asks for: method, path, query parameters and body, each led by
 * its size. Percent-encoding, the order of parameter names and everything that JSON
 * leaves open make no difference.
 */
final class RequestFingerprinter {

	private RequestFingerprinter() {
	}

	static Fingerprint fingerprint(HttpServletRequest request, byte[] body) {
		List<byte[]> parts = new ArrayList<>();
		parts.add(bytes(request.getMethod()));
		addPath(parts, request.getRequestURI());
		addQuery(parts, QueryParameters.of(request));
		String canonical = isJson(request.getContentType()) ? CanonicalJson.of(body) : null;
		parts.add(bytes((canonical != null) ? "json" : "raw"));
		parts.add((canonical != null) ? bytes(canonical) : body);
		return Fingerprint.of(parts);
	}

	private static void addPath(List<byte[]> parts, String path) {
		String[] segments = path.split("/", -1);
		parts.add(bytes(segments.length));
		for (String segment : segments) {
			parts.add(bytes(UriUtils.decode(segment, StandardCharsets.UTF_8)));
		}
	}

	private static void addQuery(List<byte[]> parts, Map<String, List<String>> parameters) {
		parts.add(bytes(parameters.size()));
		parameters.forEach((name, values) -> {
			parts.add(bytes(name));
			parts.add(bytes(values.size()));
			values.forEach((value) -> parts.add(bytes(value)));
		});
	}

	private static boolean isJson(@Nullable String contentType) {
		try {
			MediaType type = (contentType != null) ? MediaType.parseMediaType(contentType) : null;
			return type != null && type.getType().equals("application")
					&& (type.getSubtype().equals("json") || type.getSubtype().endsWith("+json"));
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[] bytes(int number) {
		return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
	}

}
