package dev.idempotent.idempotency.web;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import org.springframework.http.HttpHeaders;

/**
 * What filters and interceptors had put on a response before its handler ran.
 *
 * @param headers the headers by name
 * @param stated those of them that are not from outer filters
 */
record ResponseStart(Map<String, Collection<String>> headers, ApplicationHeaders stated) {

	static ResponseStart empty() {
		return new ResponseStart(Map.of(), new ApplicationHeaders());
	}

	static ResponseStart of(HttpServletResponse response) {
		Map<String, Collection<String>> headers = new LinkedHashMap<>();
		for (String name : response.getHeaderNames()) {
			headers.put(name, List.copyOf(response.getHeaders(name)));
		}
		ApplicationHeaders stated = (response instanceof BufferedResponse holding) ? holding.stated().copy()
				: new ApplicationHeaders();
		return new ResponseStart(headers, stated);
	}

	/**
	 * Takes back whatever was done to the response since, but for the cookie of a session
	 * that has begun meanwhile: no rollback ends it.
	 */
	void restore(HttpServletRequest request, BufferedResponse response) {
		Set<String> cookies = new LinkedHashSet<>(this.headers.getOrDefault(HttpHeaders.SET_COOKIE, List.of()));
		cookies.addAll(sessionCookies(request, response));
		response.beginAnew();
		response.stated().addAll(this.stated);
		HttpServletResponse target = (HttpServletResponse) response.getResponse();
		this.headers.forEach((name, values) -> values.forEach((value) -> target.addHeader(name, value)));
		restoreCookies(target, cookies);
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
