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
 * Computes the fingerprint of a request from its method, path, query parameters and
 * content, each prefixed with its size. Percent-encoding, the order of parameter names
 * and insignificant differences in JSON do not change it.
 */
final class RequestFingerprinter {

	private final List<byte[]> parts = new ArrayList<>();

	private final FingerprintExclusions exclusions;

	private RequestFingerprinter(FingerprintExclusions exclusions) {
		this.exclusions = exclusions;
	}

	static Fingerprint fingerprint(HttpServletRequest request, ReadRequest.Content content,
			FingerprintExclusions exclusions) {
		if (exclusions.isEverything()) {
			return Fingerprint.of(List.of());
		}
		RequestFingerprinter fingerprinter = new RequestFingerprinter(exclusions);
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
		SortedMap<String, List<String>> included = new TreeMap<>(parameters);
		included.keySet().removeAll(this.exclusions.parameters());
		add(included.size());
		included.forEach((name, values) -> {
			add(name);
			add(values.size());
			values.forEach(this::add);
		});
	}

	private void add(ReadRequest.Content content) {
		if (content instanceof ReadRequest.Body body) {
			String canonical = body.isJson() ? CanonicalJson.of(body.bytes(), this.exclusions.members()) : null;
			add((canonical != null) ? "json" : "raw");
			this.parts.add((canonical != null) ? canonical.getBytes(StandardCharsets.UTF_8) : body.bytes());
		}
		else if (content instanceof ReadRequest.Form form) {
			add("form");
			add(form.fields());
		}
		else if (content instanceof ReadRequest.Multipart multipart) {
			add("multipart");
			multipart.parts().stream().filter(this::isIncluded).forEach((part) -> {
				add(part.name());
				add(part.fileName());
				add(part.contentType());
				add(part.digest());
			});
		}
	}

	private boolean isIncluded(ReadRequest.PartDigest part) {
		return !this.exclusions.parameters().contains(part.name());
	}

	private void add(String text) {
		this.parts.add(text.getBytes(StandardCharsets.UTF_8));
	}

	private void add(int number) {
		this.parts.add(ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
	}

}
