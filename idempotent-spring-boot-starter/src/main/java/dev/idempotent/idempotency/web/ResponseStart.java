package dev.idempotent.idempotency.web;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import jakarta.servlet.http.HttpServletResponse;

/**
 * What outer filters had put on a response before its handler ran.
 *
 * @param headers the headers by name
 */
record ResponseStart(Map<String, Collection<String>> headers) {

	static ResponseStart of(HttpServletResponse response) {
		Map<String, Collection<String>> headers = new LinkedHashMap<>();
		for (String name : response.getHeaderNames()) {
			headers.put(name, List.copyOf(response.getHeaders(name)));
		}
		return new ResponseStart(headers);
	}

	/**
	 * Takes back whatever was done to the response since.
	 */
	void restore(HoldingResponse response) {
		response.beginAnew();
		this.headers.forEach((name, values) -> values.forEach((value) -> response.addHeader(name, value)));
	}

}
