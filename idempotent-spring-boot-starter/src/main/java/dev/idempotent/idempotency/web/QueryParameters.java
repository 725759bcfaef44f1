package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import jakarta.servlet.http.HttpServletRequest;

/**
 * The parameters of a request's URL, parsed from the query string:
 * {@link HttpServletRequest#getParameterMap()} would consume the body of a form and
 * include its fields.
 */
final class QueryParameters {

	private QueryParameters() {
	}

	/**
	 * Returns all parameters by name, each with its values in the order sent. Names and
	 * values are in {@link PercentEncoding#normalize normal} percent-encoding.
	 */
	static SortedMap<String, List<String>> of(HttpServletRequest request) {
		String query = request.getQueryString();
		if (query == null) {
			return Collections.emptySortedMap();
		}
		SortedMap<String, List<String>> parameters = new TreeMap<>();
		for (String pair : query.split("&", -1)) {
			if (!pair.isEmpty()) {
				int equals = pair.indexOf('=');
				String name = (equals < 0) ? pair : pair.substring(0, equals);
				String value = (equals < 0) ? "" : pair.substring(equals + 1);
				parameters.computeIfAbsent(normalize(name), (key) -> new ArrayList<>()).add(normalize(value));
			}
		}
		return parameters;
	}

	/**
	 * Returns the first value of each parameter, decoded.
	 * @throws RefusedRequestException if the query is not UTF-8
	 */
	static Map<String, String> first(HttpServletRequest request) {
		Map<String, String> first = new HashMap<>();
		of(request).forEach((name, values) -> first.put(decode(name), decode(values.get(0))));
		return first;
	}

	private static String normalize(String text) {
		return PercentEncoding.normalize(text.replace('+', ' '));
	}

	private static String decode(String text) {
		String decoded = PercentEncoding.decode(text);
		if (decoded == null) {
			throw Problem.REQUEST_MALFORMED.refusal(
					"This operation derives its idempotency key from the query, which must be UTF-8 in percent-encoding.");
		}
		return decoded;
	}

}
