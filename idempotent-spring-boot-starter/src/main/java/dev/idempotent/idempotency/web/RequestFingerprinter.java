package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;

import dev.idempotent.idempotency.Fingerprint;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Computes the fingerprint of a request from its method, path, query parameters and
 * content, each prefixed with its size. The spelling of percent-encoding, the order of
 * parameter names and insignificant differences in JSON do not change it.
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
		fingerprinter.add(QueryParameters.of(request), PercentEncoding::decode);
		fingerprinter.add(content);
		return Fingerprint.of(fingerprinter.parts);
	}

	private void addPath(String path) {
		int position = this.parts.size();
		int start = 0;
		for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', start)) {
			add(PercentEncoding.normalize(path.substring(start, slash)));
			start = slash + 1;
		}
		add(PercentEncoding.normalize(path.substring(start)));
		this.parts.add(position, encode(this.parts.size() - position));
	}

	private void add(SortedMap<String, List<String>> parameters, Function<String, @Nullable String> name) {
		int position = this.parts.size();
		int count = 0;
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			if (isIncluded(name.apply(parameter.getKey()))) {
				count++;
				add(parameter.getKey());
				this.parts.add(encode(parameter.getValue().size()));
				parameter.getValue().forEach(this::add);
			}
		}
		this.parts.add(position, encode(count));
	}

	private void add(ReadRequest.Content content) {
		if (content instanceof ReadRequest.Body body) {
			byte[] canonical = body.isJson() ? this.exclusions.json().encode(body.bytes()) : null;
			add((canonical != null) ? "json" : "raw");
			this.parts.add((canonical != null) ? canonical : body.bytes());
		}
		else if (content instanceof ReadRequest.Form form) {
			add("form");
			add(form.fields(), (name) -> name);
		}
		else if (content instanceof ReadRequest.Multipart multipart) {
			add("multipart");
			multipart.parts().stream().filter((part) -> isIncluded(part.name())).forEach((part) -> {
				add(part.name());
				add(part.fileName());
				add(part.contentType());
				add(part.digest());
			});
		}
	}

	private boolean isIncluded(@Nullable String parameter) {
		return parameter == null || !this.exclusions.parameters().contains(parameter);
	}

	private void add(String text) {
		this.parts.add(text.getBytes(StandardCharsets.UTF_8));
	}

	private static byte[] encode(int number) {
		return new byte[] { (byte) (number >>> 24), (byte) (number >>> 16), (byte) (number >>> 8), (byte) number };
	}

}
