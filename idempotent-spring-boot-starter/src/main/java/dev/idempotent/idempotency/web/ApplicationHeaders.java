package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import dev.idempotent.idempotency.web.CapturedResponse.Header;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * The headers of an answer as the application behind the {@link IdempotencyFilter} has
 * stated them. What outer filters add meanwhile is not among them.
 */
final class ApplicationHeaders {

	/**
	 * Hop by hop (RFC 9110, section 7.6.1), of the moment, or of the one connection.
	 */
	private static final Set<String> NOT_KEPT = Set.of("connection", "content-length", "content-type", "date",
			"keep-alive", "proxy-authenticate", "proxy-connection", "set-cookie", "te", "trailer", "transfer-encoding",
			"upgrade");

	private final Map<String, List<Header>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

	/**
	 * Spring MVC takes a header off by the value {@code null} before it adds values.
	 */
	void set(String name, @Nullable String value) {
		this.headers.put(name, new ArrayList<>());
		add(name, value);
	}

	void add(String name, @Nullable String value) {
		if (value != null && isKept(name.toLowerCase(Locale.ROOT))) {
			List<Header> values = this.headers.get(name);
			boolean replaces = values != null && values.isEmpty();
			this.headers.computeIfAbsent(name, (key) -> new ArrayList<>()).add(new Header(name, value, replaces));
		}
	}

	private static boolean isKept(String lowerCaseName) {
		return !NOT_KEPT.contains(lowerCaseName) && !lowerCaseName.startsWith("access-control-");
	}

	void clear() {
		this.headers.clear();
	}

	ApplicationHeaders copy() {
		ApplicationHeaders copy = new ApplicationHeaders();
		copy.addAll(this);
		return copy;
	}

	void addAll(ApplicationHeaders others) {
		others.headers.forEach((name, values) -> this.headers.put(name, new ArrayList<>(values)));
	}

	/**
	 * Begins those of an error page. What was stated before the error stays, unless the
	 * container has taken it off.
	 */
	void takeOver(ApplicationHeaders before, HttpServletResponse response) {
		addAll(before);
		this.headers.keySet().removeIf((name) -> !response.containsHeader(name));
	}

	List<Header> list() {
		return this.headers.values().stream().flatMap(List::stream).toList();
	}

}
