package dev.idempotent.idempotency.web;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

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
	 * Returns all parameters by name, each with its values in the order sent.
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
				parameters.computeIfAbsent(decode(name), (key) -> new ArrayList<>()).add(decode(value));
			}
		}
		return parameters;
	}

	/**
	 * Returns the first value of each parameter.
	 */
	static Map<String, String> first(HttpServletRequest request) {
		Map<String, String> first = new HashMap<>();
		of(request).forEach((name, values) -> first.put(name, values.get(0)));
		return first;
	}

	private static String decode(String encoded) {
		try {
			return URLDecoder.decode(encoded, StandardCharsets.UTF_8);
		}
		catch (IllegalArgumentException ex) {
			return encoded;
		}
	}

}
