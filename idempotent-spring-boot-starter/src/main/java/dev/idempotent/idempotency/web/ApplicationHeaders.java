package dev.idempotent.idempotency.web;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a response as set by the application behind the
 * {@link IdempotencyFilter}, without those that outer filters add meanwhile.
 */
final class ApplicationHeaders {

	/**
	 * Hop-by-hop (RFC 9110, section 7.6.1), or specific to the one response or
	 * connection.
	 */
	private static final Set<String> NOT_STORED = Set.of("connection", "content-length", "content-type", "date",
			"keep-alive", "proxy-authenticate", "proxy-connection", "set-cookie", "te", "trailer", "transfer-encoding",
			"upgrade");

	private final Map<String, List<Header>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

	/**
	 * Spring MVC removes a header by setting {@code null} before it adds values.
	 */
	void set(String name, @Nullable String value) {
		this.headers.put(name, new ArrayList<>());
		add(name, value);
	}

	void add(String name, @Nullable String value) {
		if (value != null && isStored(name)) {
			List<Header> values = this.headers.get(name);
			boolean replaces = values != null && values.isEmpty();
			this.headers.computeIfAbsent(name, (key) -> new ArrayList<>()).add(new Header(name, value, replaces));
		}
	}

	static boolean isStored(String name) {
		String lowerCaseName = name.toLowerCase(Locale.ROOT);
		return !NOT_STORED.contains(lowerCaseName) && !lowerCaseName.startsWith("access-control-");
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
	 * Starts the headers of an error page with those set before the error, except those
	 * that the container has removed.
	 */
	void takeOver(ApplicationHeaders before, HttpServletResponse response) {
		addAll(before);
		this.headers.keySet().removeIf((name) -> !response.containsHeader(name));
	}

	List<Header> list() {
		List<Header> all = new ArrayList<>();
		this.headers.values().forEach(all::addAll);
		return all;
	}

	/**
	 * One value of a header.
	 *
	 * @param name the name as set
	 * @param value the value
	 * @param replaces whether it replaces the values that are present
	 */
	record Header(String name, String value, boolean replaces) {
	}

}
