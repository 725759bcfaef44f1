package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;

import org.springframework.http.HttpHeaders;

/**
 * What filters and interceptors had put on a response before its handler ran.
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
				captured.body(), captured.redirect(), captured.error());
	}

	/**
	 * Takes back whatever was done to the response since, but for the cookie of a session
	 * that has begun meanwhile: no rollback ends it.
	 */
	void restore(HttpServletRequest request, HoldingResponse response) {
		Set<String> cookies = new LinkedHashSet<>(this.headers.getOrDefault(HttpHeaders.SET_COOKIE, List.of()));
		cookies.addAll(sessionCookies(request, response));
		response.beginAnew();
		this.headers.forEach((name, values) -> values.forEach((value) -> response.addHeader(name, value)));
		restoreCookies(response, cookies);
	}

	/**
	 * Replaces them, because some containers keep the session cookie by themselves.
	 */
	private static void restoreCookies(HttpServletResponse response, Set<String> cookies) {
		Iterator<String> values = cookies.iterator();
		if (values.hasNext()) {
			response.setHeader(HttpHeaders.SET_COOKIE, values.next());
		}
		values.forEachRemaining((cookie) -> response.addHeader(HttpHeaders.SET_COOKIE, cookie));
	}

	private static List<String> sessionCookies(HttpServletRequest request, HttpServletResponse response) {
		HttpSession session = request.getSession(false);
		return (session == null) ? List.of()
				: response.getHeaders(HttpHeaders.SET_COOKIE)
					.stream()
					.filter((cookie) -> cookie.contains("=" + session.getId()))
					.toList();
	}

}
