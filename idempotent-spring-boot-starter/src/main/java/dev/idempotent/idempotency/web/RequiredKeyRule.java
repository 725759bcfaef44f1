package dev.idempotent.idempotency.web;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * A rule that requests to a path need a key, whether or not their handler is annotated.
 *
 * @param method the HTTP method
 * @param path the pattern of the path within the application
 */
public record RequiredKeyRule(String method, PathPattern path) {

	private static final Pattern RULE = Pattern.compile("([A-Z]+) +(/\\S*)");

	/**
	 * Reads a rule.
	 * @param rule method and path pattern, such as {@code POST /api/**}
	 * @return the rule
	 * @throws IllegalArgumentException if it is malformed, saying how
	 * @see PathPattern
	 */
	public static RequiredKeyRule parse(String rule) {
		Matcher words = RULE.matcher(rule.strip());
		if (!words.matches()) {
			throw new IllegalArgumentException("'" + rule + "' is no HTTP method and path pattern");
		}
		return new RequiredKeyRule(words.group(1), PathPatternParser.defaultInstance.parse(words.group(2)));
	}

	/**
	 * Tells whether a mapping is for such requests, as far as its pattern shows.
	 * @param methods the mapping's methods; empty means all
	 */
	boolean matches(Set<RequestMethod> methods, PathContainer pattern) {
		return (methods.isEmpty() || methods.contains(RequestMethod.resolve(this.method)))
				&& this.path.matches(pattern);
	}

	boolean matches(String requestMethod, PathContainer requestPath) {
		return this.method.equals(requestMethod) && this.path.matches(requestPath);
	}

}
