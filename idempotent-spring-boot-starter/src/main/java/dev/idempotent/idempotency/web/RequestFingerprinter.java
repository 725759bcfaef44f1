package dev.idempotent.idempotency.web;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.json.CanonicalJson;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.web.util.UriUtils;

/**
 * Digests what a request asks for: method, path, query parameters and content, each led
 * by its size. Percent-encoding, the order of parameter names and everything that JSON
 * leaves open make no difference.
 */
final class RequestFingerprinter {

	private final List<byte[]> parts = new ArrayList<>();

	private final FingerprintExclusions ignored;

	private RequestFingerprinter(FingerprintExclusions ignored) {
		this.ignored = ignored;
	}

	static Fingerprint fingerprint(HttpServletRequest request, RequestContent content, FingerprintExclusions ignored) {
		if (ignored.isEverything()) {
			return Fingerprint.of(List.of());
		}
		RequestFingerprinter fingerprinter = new RequestFingerprinter(ignored);
		fingerprinter.add(request.getMethod());
		fingerprinter.addPath(request.getRequestURI());
		fingerprinter.add(QueryParameters.of(request));
		fingerprinter.add(content);
		return Fingerprint.of(fingerprinter.parts);
	}

	private void addPath(String path) {
		String[] segments = path.split("/", -1);
		add(segments.length);
		for (String segment : segments) {
			add(UriUtils.decode(segment, StandardCharsets.UTF_8));
		}
	}

	private void add(SortedMap<String, List<String>> parameters) {
		SortedMap<String, List<String>> counted = new TreeMap<>(parameters);
		counted.keySet().removeAll(this.ignored.parameters());
		add(counted.size());
		counted.forEach((name, values) -> {
			add(name);
			add(values.size());
			values.forEach(this::add);
		});
	}

	private void add(RequestContent content) {
		if (content instanceof RequestContent.Body body) {
			String canonical = body.isJson() ? CanonicalJson.of(body.bytes(), this.ignored.members()) : null;
			add((canonical != null) ? "json" : "raw");
			this.parts.add((canonical != null) ? canonical.getBytes(StandardCharsets.UTF_8) : body.bytes());
		}
		else if (content instanceof RequestContent.Form form) {
			add("form");
			add(form.fields());
		}
		else if (content instanceof RequestContent.Multipart multipart) {
			add("multipart");
			multipart.parts().stream().filter(this::counts).forEach((part) -> {
				add(part.name());
				add(part.fileName());
				add(part.contentType());
				add(part.digest());
			});
		}
	}

	private boolean counts(RequestContent.PartDigest part) {
		return !this.ignored.parameters().contains(part.name());
	}

	private void add(String text) {
		this.parts.add(text.getBytes(StandardCharsets.UTF_8));
	}

	private void add(int number) {
		this.parts.add(ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
	}

}
