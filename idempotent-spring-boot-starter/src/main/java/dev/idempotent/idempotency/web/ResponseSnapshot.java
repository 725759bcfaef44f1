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
 * The headers that filters and interceptors had set before the handler ran.
 *
 * @param headers the headers by name
 * @param applicationHeaders those of them that do not come from outer filters
 */
record ResponseSnapshot(Map<String, Collection<String>> headers, ApplicationHeaders applicationHeaders) {

	static ResponseSnapshot empty() {
		return new ResponseSnapshot(Map.of(), new ApplicationHeaders());
	}

	static ResponseSnapshot of(HttpServletResponse response) {
		Map<String, Collection<String>> headers = new LinkedHashMap<>();
		for (String name : response.getHeaderNames()) {
			headers.put(name, List.copyOf(response.getHeaders(name)));
		}
		ApplicationHeaders applicationHeaders = (response instanceof BufferedResponse buffered)
				? buffered.applicationHeaders().copy() : new ApplicationHeaders();
		return new ResponseSnapshot(headers, applicationHeaders);
	}

	/**
	 * Resets the response to these headers, but keeps the cookie of a session that has
	 * been created since: a rollback does not end it.
	 */
	void restore(HttpServletRequest request, BufferedResponse response) {
		Set<String> cookies = new LinkedHashSet<>(this.headers.getOrDefault(HttpHeaders.SET_COOKIE, List.of()));
		cookies.addAll(sessionCookies(request, response));
		response.startOver();
		response.applicationHeaders().addAll(this.applicationHeaders);
		HttpServletResponse target = (HttpServletResponse) response.getResponse();
		this.headers.forEach((name, values) -> values.forEach((value) -> target.addHeader(name, value)));
		restoreCookies(target, cookies);
	}

	/**
	 * Replaces the cookies, because some containers keep the session cookie on a reset.
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
