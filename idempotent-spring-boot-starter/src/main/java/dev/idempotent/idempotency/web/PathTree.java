package dev.idempotent.idempotency.web;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * A set of path patterns as a tree of their segments, which rules out raw paths that none
 * of the patterns matches. Includes each path that it cannot rule out.
 */
final class PathTree {

	private static final Pattern VARIABLE = Pattern.compile("\\*|\\{[^{}*?:\\\\]+}");

	private final Map<String, PathTree> literals = new HashMap<>();

	private @Nullable PathTree variable;

	private boolean end;

	private boolean rest;

	/**
	 * Adds a pattern. From its first segment on that is neither literal nor a plain
	 * variable, it includes all paths, as does a pattern with options other than Spring
	 * MVC's default.
	 */
	void add(PathPattern pattern) {
		String path = pattern.getPatternString();
		if (!PathPatternParser.defaultInstance.parse(path).equals(pattern)) {
			addAll();
		}
		else if (path.isEmpty()) {
			this.end = true;
		}
		else if (path.startsWith("/")) {
			add(path.substring(1).split("/", -1), 0);
		}
		else {
			addAll();
		}
	}

	/**
	 * Adds all paths.
	 */
	void addAll() {
		this.rest = true;
	}

	private void add(String[] segments, int index) {
		if (index == segments.length) {
			this.end = true;
		}
		else if (isPlain(segments[index])) {
			this.literals.computeIfAbsent(segments[index], (segment) -> new PathTree()).add(segments, index + 1);
		}
		else if (VARIABLE.matcher(segments[index]).matches()) {
			this.variable = (this.variable != null) ? this.variable : new PathTree();
			this.variable.add(segments, index + 1);
		}
		else {
			addAll();
		}
	}

	/**
	 * Returns whether a pattern may match a path.
	 * @param path the raw path, which is {@linkplain #isPlain plain}
	 * @param start where to start: at a slash, or at the end of the path
	 * @return {@code false} only if no pattern matches it
	 */
	boolean mayMatch(String path, int start) {
		if (this.rest) {
			return true;
		}
		if (start == path.length()) {
			return this.end;
		}
		int slash = path.indexOf('/', start + 1);
		int segmentEnd = (slash != -1) ? slash : path.length();
		PathTree literal = this.literals.isEmpty() ? null : this.literals.get(path.substring(start + 1, segmentEnd));
		return (literal != null && literal.mayMatch(path, segmentEnd))
				|| (this.variable != null && this.variable.mayMatch(path, segmentEnd));
	}

	/**
	 * Returns whether a raw path is equal to its parsed form: it has no characters that
	 * are encoded, separate parameters or have a meaning in patterns, and no empty
	 * segment but the last.
	 */
	static boolean isPlain(String path) {
		char previous = 0;
		for (int i = 0; i < path.length(); i++) {
			char next = path.charAt(i);
			if (!isPlain(next) || (next == '/' && previous == '/')) {
				return false;
			}
			previous = next;
		}
		return true;
	}

	private static boolean isPlain(char character) {
		return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z')
				|| (character >= '-' && character <= '9') || character == '_' || character == '~';
	}

}
