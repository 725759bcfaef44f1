package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;

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
	 * Leaves out the headers of an answer that are still as they were.
	 */
	CapturedResponse removeFrom(CapturedResponse captured) {
		Map<String, List<String>> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		captured.headers()
			.forEach(
					(header) -> values.computeIfAbsent(header.name(), (name) -> new ArrayList<>()).add(header.value()));
		this.headers.forEach(values::remove);
		// It belongs to the body.
		values.put(HttpHeaders.CONTENT_TYPE, List.of());
		return new CapturedResponse(captured.status(),
				captured.headers().stream().filter((header) -> values.containsKey(header.name())).toList(),
				captured.body());
	}

	/**
	 * Takes back whatever was done to the response since.
	 */
	void restore(HoldingResponse response) {
		response.beginAnew();
		this.headers.forEach((name, values) -> values.forEach((value) -> response.addHeader(name, value)));
	}

}
