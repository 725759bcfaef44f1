package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Function;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import org.jspecify.annotations.Nullable;
import org.springframework.web.accept.ApiVersionHolder;
import org.springframework.web.servlet.HandlerMapping;
import tools.jackson.core.JsonPointer;

/**
 * Computes the fingerprint of a request from its method, path, query and content, without
 * what is ignored of them, and from what selects its handler beside these. JSON is
 * compared by its meaning, anything else by its bytes.
 */
final class RequestFingerprinter {

	/**
	 * Parameters of the URL and of forms that are ignored.
	 */
	private final Set<String> ignored;

	private final CanonicalJson json;

	private final @Nullable String conditions;

	private RequestFingerprinter(@Nullable String conditions, Set<String> ignored, CanonicalJson json) {
		this.conditions = conditions;
		this.ignored = ignored;
		this.json = json;
	}

	/**
	 * Creates a fingerprinter.
	 * @param conditions those of the handler, such as a header or a media type;
	 * {@code null} stands for the API version of the request
	 * @param entries those of the annotation
	 * @throws IllegalArgumentException if one is blank or a pointer to the whole body, or
	 * if there are others beside {@code *}
	 */
	static RequestFingerprinter of(@Nullable String conditions, String... entries) {
		Set<String> parameters = new HashSet<>();
		Set<JsonPointer> members = new HashSet<>();
		for (String entry : entries) {
			if (entry.isBlank() || entry.equals("/")) {
				throw new IllegalArgumentException("an entry is blank or has no name");
			}
			if (entry.startsWith("/")) {
				members.add(JsonPointer.compile(entry));
			}
			else {
				parameters.add(entry);
			}
		}
		if (parameters.contains(Idempotent.EVERYTHING) && entries.length > 1) {
			throw new IllegalArgumentException("'*' must be the only entry");
		}
		return new RequestFingerprinter(conditions, parameters, CanonicalJson.without(members));
	}

	/**
	 * Returns a fingerprinter that also ignores a parameter.
	 */
	RequestFingerprinter alsoWithout(String parameter) {
		Set<String> all = new HashSet<>(this.ignored);
		all.add(parameter);
		return new RequestFingerprinter(this.conditions, all, this.json);
	}

	/**
	 * Returns whether requests with the same key are always the same.
	 */
	boolean ignoresEverything() {
		return this.ignored.contains(Idempotent.EVERYTHING);
	}

	Fingerprint fingerprint(BufferedRequest request) {
		List<byte[]> parts = new ArrayList<>();
		if (!ignoresEverything()) {
			add(parts, request.getMethod());
			addPath(parts, request.getRequestURI());
			addParameters(parts, RequestUrl.query(request), RequestUrl::decode);
			add(parts, (this.conditions != null) ? this.conditions : version(request));
			addContent(parts, request);
		}
		return Fingerprint.of(parts);
	}

	/**
	 * The version that the mapping of a functional endpoint has resolved.
	 */
	private static String version(BufferedRequest request) {
		return (request.getAttribute(HandlerMapping.API_VERSION_ATTRIBUTE) instanceof ApiVersionHolder version
				&& version.hasVersion()) ? version.getVersion().toString() : "";
	}

	/**
	 * Matrix variables count as sent: an encoded delimiter is part of a name or a value.
	 */
	private static void addPath(List<byte[]> parts, String path) {
		int position = parts.size();
		for (String segment : path.split("/", -1)) {
			int end = (segment.indexOf(';') < 0) ? segment.length() : segment.indexOf(';');
			add(parts, RequestUrl.normalize(segment.substring(0, end)).replace(";", "%3B") + segment.substring(end));
		}
		parts.add(position, encode(parts.size() - position));
	}

	private void addParameters(List<byte[]> parts, SortedMap<String, List<String>> parameters,
			Function<String, @Nullable String> name) {
		int position = parts.size();
		int count = 0;
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			if (!this.ignored.contains(name.apply(parameter.getKey()))) {
				count++;
				add(parts, parameter.getKey());
				parts.add(encode(parameter.getValue().size()));
				parameter.getValue().forEach((value) -> add(parts, value));
			}
		}
		parts.add(position, encode(count));
	}

	private void addContent(List<byte[]> parts, BufferedRequest request) {
		SortedMap<String, List<String>> form = request.form();
		List<List<String>> multipart = request.parts();
		byte[] body = request.body();
		if (form != null) {
			add(parts, "form");
			addParameters(parts, form, (name) -> name);
		}
		if (multipart != null) {
			add(parts, "multipart");
			for (List<String> part : multipart) {
				if (!this.ignored.contains(part.get(0))) {
					part.forEach((text) -> add(parts, text));
				}
			}
		}
		else if (form != null && request.isForm()) {
			addParameters(parts, RequestUrl.parameters(new String(body, StandardCharsets.ISO_8859_1)),
					RequestUrl::decode);
		}
		else {
			byte[] canonical = request.isJson() ? this.json.encode(body) : null;
			add(parts, (canonical != null) ? "json" : "raw");
			parts.add((canonical != null) ? canonical : body);
		}
	}

	private static void add(List<byte[]> parts, String text) {
		parts.add(text.getBytes(StandardCharsets.UTF_8));
	}

	private static byte[] encode(int number) {
		return new byte[] { (byte) (number >>> 24), (byte) (number >>> 16), (byte) (number >>> 8), (byte) number };
	}

}
