package dev.idempotent.idempotency.web;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.http.HttpHeaders;

/**
 * The headers whose values are part of the fingerprint: those that select a part of the
 * response, and those that an operation includes because they decide its work.
 *
 * @param included the included names, sorted
 */
record ComparedHeaders(List<String> included) {

	/**
	 * Compares no others than those that select a part of the response.
	 */
	static final ComparedHeaders NONE_INCLUDED = new ComparedHeaders(List.of());

	private static final List<String> PART = List.of(HttpHeaders.RANGE, HttpHeaders.IF_RANGE);

	/**
	 * Headers that differ between two attempts of one client, or between two ways to this
	 * application: credentials that are renewed, the time, the trace, the route and the
	 * framing.
	 */
	private static final Set<String> PER_ATTEMPT = Set.of("authorization", "proxy-authorization", "cookie", "date",
			"traceparent", "tracestate", "baggage", "b3", "x-request-id", "forwarded", "via", "x-forwarded-for",
			"connection", "content-length", "transfer-encoding", "expect");

	/**
	 * Includes headers.
	 * @param keyHeader the header of the key
	 * @param names their names
	 * @throws IllegalArgumentException if a name is invalid, occurs twice, or belongs to
	 * a header that differs per attempt
	 */
	static ComparedHeaders of(String keyHeader, String... names) {
		Set<String> included = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
		for (String each : names) {
			String name = each.toLowerCase(Locale.ROOT);
			if (!HeaderNames.isValid(each)) {
				throw new IllegalArgumentException("an entry is not the name of a header");
			}
			if (PER_ATTEMPT.contains(name) || name.equalsIgnoreCase(keyHeader)
					|| name.equalsIgnoreCase(Cancellation.HEADER)) {
				throw new IllegalArgumentException("'" + each
						+ "' is the key, or may have another value in a retry, which would then be another request");
			}
			if (!included.add(each)) {
				throw new IllegalArgumentException("'" + each + "' occurs twice");
			}
		}
		return new ComparedHeaders(List.copyOf(included));
	}

	/**
	 * Returns the included headers that a client sends itself.
	 */
	List<String> sentByClients() {
		return this.included.stream().filter((name) -> !name.equalsIgnoreCase(HttpHeaders.HOST)).toList();
	}

	/**
	 * Returns the values of a request by name, in the order sent. A header that was not
	 * sent is missing; an empty one has an empty value.
	 */
	SortedMap<String, List<String>> of(HttpServletRequest request) {
		SortedMap<String, List<String>> sent = new TreeMap<>();
		Stream.concat(PART.stream(), this.included.stream()).forEach((name) -> {
			List<String> values = name.equalsIgnoreCase(HttpHeaders.HOST) ? host(request)
					: Collections.list(request.getHeaders(name));
			if (!values.isEmpty()) {
				sent.put(name.toLowerCase(Locale.ROOT), values);
			}
			addSingle(sent, request, name, values);
		});
		return sent;
	}

	/**
	 * Adds what a filter returns in place of the first value, under a name that no header
	 * has: many override {@link HttpServletRequest#getHeader} alone.
	 */
	private static void addSingle(SortedMap<String, List<String>> sent, HttpServletRequest request, String name,
			List<String> values) {
		String single = request.getHeader(name);
		String first = values.isEmpty() ? null : values.get(0);
		if (!name.equalsIgnoreCase(HttpHeaders.HOST) && !Objects.equals(single, first)) {
			sent.put(name.toLowerCase(Locale.ROOT) + " alone", (single != null) ? List.of(single) : List.of());
		}
	}

	private static List<String> host(HttpServletRequest request) {
		String host = RequestAddress.hostAsSent(request);
		return host.isEmpty() ? List.of() : List.of(host);
	}

}
