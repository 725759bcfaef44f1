package dev.idempotent.idempotency.web;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.web.ApplicationHeaders.Header;
import org.springframework.http.HttpHeaders;

/**
 * Selects the headers of a response that are stored, either by a list of included names
 * or by one of excluded names. The content type and the location of a redirect are always
 * stored.
 */
final class StoredHeaders {

	private static final String STORED = "idempotent.web.stored-headers";

	private static final String EXCLUDED = "idempotent.web.excluded-headers";

	/**
	 * A token in RFC 9110.
	 */
	private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

	private final Set<String> stored;

	private final Set<String> excluded;

	/**
	 * Creates the selection.
	 * @param stored the only names that are stored; empty for all
	 * @param excluded names that are not stored
	 * @throws IdempotentConfigurationException if both have names, or a name would have
	 * no effect
	 */
	StoredHeaders(List<String> stored, List<String> excluded) {
		if (!stored.isEmpty() && !excluded.isEmpty()) {
			throw new IdempotentConfigurationException(STORED + " and " + EXCLUDED + " are both set.",
					"Set " + STORED + " to store only these headers, or " + EXCLUDED + " to store all others.", null);
		}
		this.stored = names(STORED, stored);
		this.excluded = names(EXCLUDED, excluded);
		this.stored.stream().filter((name) -> !ApplicationHeaders.isStored(name)).findAny().ifPresent((name) -> {
			if (!name.equalsIgnoreCase(HttpHeaders.CONTENT_TYPE)) {
				throw new IdempotentConfigurationException(STORED + " has '" + name + "', which is never stored.",
						"Remove it: it is only valid in the response to the first request.", null);
			}
		});
		if (this.excluded.contains(HttpHeaders.CONTENT_TYPE.toLowerCase(Locale.ROOT))) {
			throw new IdempotentConfigurationException(EXCLUDED + " has Content-Type, which is always stored.",
					"Remove it, or declare a bean of type ResponseRedactor that changes it.", null);
		}
	}

	private static Set<String> names(String property, List<String> names) {
		return names.stream().map(String::strip).peek((name) -> {
			if (!TOKEN.matcher(name).matches()) {
				throw new IdempotentConfigurationException(property + " has a name that is not valid.",
						"List names of response headers, such as Location, X-Order-Id.", null);
			}
		}).map((name) -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Returns whether a header of a response is stored.
	 */
	boolean contain(int status, Header header) {
		String name = header.name().toLowerCase(Locale.ROOT);
		if (name.equals("content-type") || (name.equals("location") && status >= 300 && status < 400)) {
			return true;
		}
		return (this.stored.isEmpty() || this.stored.contains(name)) && !this.excluded.contains(name);
	}

}
