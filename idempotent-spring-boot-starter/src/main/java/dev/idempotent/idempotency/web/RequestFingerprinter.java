package dev.idempotent.idempotency.web;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;

/**
 * Computes the fingerprint of a request from its method, path within the application,
 * query and content, without the ignored parts, from the other conditions that select its
 * handler, and from the headers that decide its work. JSON is compared by its meaning,
 * anything else by its bytes.
 */
final class RequestFingerprinter {

	/**
	 * The attribute of a request for what has selected its handler beside the declared
	 * conditions.
	 */
	static final String SELECTION = RequestFingerprinter.class.getName() + ".SELECTION";

	/**
	 * The matrix variable with a session, unless it has another name.
	 */
	private static final String SESSION_PARAMETER = "jsessionid";

	/**
	 * Parameters of the URL and of forms that are ignored.
	 */
	private final Set<String> ignored;

	private final CanonicalJson json;

	private final @Nullable String conditions;

	private final ComparedHeaders headers;

	private RequestFingerprinter(@Nullable String conditions, Set<String> ignored, CanonicalJson json,
			ComparedHeaders headers) {
		this.conditions = conditions;
		this.ignored = ignored;
		this.json = json;
		this.headers = headers;
	}

	/**
	 * Creates a fingerprinter.
	 * @param conditions the conditions of the handler, such as a header or a media type,
	 * or {@code null}
	 * @param entries the entries of the annotation
	 * @throws IllegalArgumentException if one is blank or a pointer to the whole body, or
	 * if there are others beside {@code *}
	 */
	static RequestFingerprinter of(@Nullable String conditions, String... entries) {
		// Each rendering of a form has another one.
		Set<String> parameters = new HashSet<>(Set.of(RequestTokens.FIELD));
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
		return new RequestFingerprinter(conditions, parameters, CanonicalJson.without(members),
				ComparedHeaders.NONE_INCLUDED);
	}

	/**
	 * Returns a fingerprinter that compares these headers.
	 */
	RequestFingerprinter with(ComparedHeaders compared) {
		return new RequestFingerprinter(this.conditions, this.ignored, this.json, compared);
	}

	/**
	 * Returns the headers that are compared.
	 */
	ComparedHeaders headers() {
		return this.headers;
	}

	/**
	 * Returns whether requests with the same key are always the same.
	 */
	boolean ignoresEverything() {
		return this.ignored.contains(Idempotent.EVERYTHING);
	}

	/**
	 * Computes the fingerprint of a request.
	 * @param csrfParameter a parameter that is ignored, too, or {@code null}
	 */
	Fingerprint fingerprint(BufferedRequest request, @Nullable String csrfParameter) {
		List<byte[]> parts = new ArrayList<>();
		if (!ignoresEverything()) {
			Predicate<@Nullable String> ignores = (name) -> name != null
					&& (this.ignored.contains(name) || name.equals(csrfParameter));
			add(parts, request.getMethod());
			addPath(parts, RequestAddress.path(request), sessionParameters(request));
			addParameters(parts, RequestUrl.query(request), (name) -> ignores.test(RequestUrl.decode(name)));
			add(parts, Objects.requireNonNullElse(this.conditions, ""));
			add(parts, (request.getAttribute(SELECTION) instanceof String selection) ? selection : "");
			addParameters(parts, this.headers.of(request), (name) -> false);
			addContent(parts, request, ignores);
		}
		return Fingerprint.of(parts);
	}

	/**
	 * Returns the names of the matrix variable in which a client without cookies sends
	 * its session: the name of the cookie on Tomcat, and the default.
	 */
	private static Set<String> sessionParameters(HttpServletRequest request) {
		String configured = request.getServletContext().getSessionCookieConfig().getName();
		return (configured != null) ? Set.of(configured, SESSION_PARAMETER) : Set.of(SESSION_PARAMETER);
	}

	/**
	 * Matrix variables count as sent: an encoded delimiter is part of a name or a value.
	 */
	private static void addPath(List<byte[]> parts, String path, Set<String> ignored) {
		int position = parts.size();
		for (String segment : path.split("/", -1)) {
			int end = (segment.indexOf(';') < 0) ? segment.length() : segment.indexOf(';');
			add(parts, RequestUrl.normalize(segment.substring(0, end)).replace(";", "%3B")
					+ without(ignored, segment.substring(end)));
		}
		parts.add(position, encode(parts.size() - position));
	}

	private static String without(Set<String> ignored, String matrix) {
		return matrix.isEmpty() ? matrix
				: Arrays.stream(matrix.substring(1).split(";", -1))
					.filter((variable) -> !ignored.contains(variable.split("=", 2)[0]))
					.map((variable) -> ";" + variable)
					.collect(Collectors.joining());
	}

	private static void addParameters(List<byte[]> parts, SortedMap<String, List<String>> parameters,
			Predicate<@Nullable String> ignores) {
		int position = parts.size();
		int count = 0;
		for (Map.Entry<String, List<String>> parameter : parameters.entrySet()) {
			if (!ignores.test(parameter.getKey())) {
				count++;
				add(parts, parameter.getKey());
				parts.add(encode(parameter.getValue().size()));
				parameter.getValue().forEach((value) -> add(parts, value));
			}
		}
		parts.add(position, encode(count));
	}

	private void addContent(List<byte[]> parts, BufferedRequest request, Predicate<@Nullable String> ignores) {
		SortedMap<String, List<String>> form = request.form();
		List<List<String>> multipart = request.parts();
		byte[] body = request.body();
		if (form != null) {
			add(parts, "form");
			addParameters(parts, form, ignores);
		}
		if (multipart != null) {
			add(parts, "multipart");
			for (List<String> part : multipart) {
				if (!ignores.test(part.get(0))) {
					part.forEach((text) -> add(parts, text));
				}
			}
		}
		else if (form != null && request.isForm()) {
			addParameters(parts, RequestUrl.parameters(new String(body, StandardCharsets.ISO_8859_1)),
					(name) -> ignores.test(RequestUrl.decode(name)));
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
