package dev.idempotent.idempotency.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A place where a target can be reached.
 *
 * @param scheme the scheme, or {@code null} for both
 * @param host the host in lower case
 * @param port the port, or {@value #ANY_PORT} for each
 * @param path the path without a slash at its end
 */
record TargetLocation(@Nullable String scheme, String host, int port, String path) {

	private static final String FORM = "is not of the form [scheme://]host[:port][/path]";

	/**
	 * A host with an underscore, such as the name of a service in Docker Compose, is not
	 * one for {@link URI#getHost}.
	 */
	private static final Pattern UNDERSCORED = Pattern
		.compile("(?:[^@]*@)?([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::([0-9]{1,5}))?");

	private static final int HIGHEST_PORT = 65_535;

	private static final int HTTP_PORT = 80;

	private static final int HTTPS_PORT = 443;

	private static final int ANY_PORT = -1;

	/**
	 * Parses a location. A scheme implies its default port; without scheme and port, both
	 * schemes and every port of the host match. A path matches itself and all paths below
	 * it.
	 * @param text {@code [scheme://]host[:port][/path]}
	 * @throws IllegalArgumentException if the text is malformed; the message omits the
	 * text, which might contain credentials
	 */
	static TargetLocation parse(String text) {
		String entry = text.strip();
		boolean anyScheme = !entry.contains("://");
		URI uri = read(anyScheme ? "http://" + entry : entry);
		Url url = normalize(uri);
		if (url == null) {
			throw new IllegalArgumentException(FORM + " with the scheme http or https and a host");
		}
		String authority = uri.getRawAuthority();
		require(!authority.contains("@"), "it has user information");
		require(uri.getRawQuery() == null && uri.getRawFragment() == null, "it has a query or fragment");
		require(!authority.endsWith(":") && url.port() > 0 && url.port() <= HIGHEST_PORT,
				"its port is not between 1 and " + HIGHEST_PORT);
		require(uri.normalize().equals(uri), "its path has empty or relative segments");
		boolean anyPort = anyScheme && !authority.substring(url.host().length()).startsWith(":");
		return new TargetLocation(anyScheme ? null : url.scheme(), url.host(), anyPort ? ANY_PORT : url.port(),
				url.path().replaceAll("/+$", ""));
	}

	/**
	 * Normalizes a URL: scheme and host in lower case, with a port, and without user
	 * information, query, fragment and relative path segments.
	 * @return the URL, with at least a slash as its path; {@code null} without a host or
	 * with a scheme other than HTTP's
	 */
	static @Nullable Url normalize(URI uri) {
		String scheme = (uri.getScheme() != null) ? uri.getScheme().toLowerCase(Locale.ROOT) : "";
		int defaultPort = scheme.equals("http") ? HTTP_PORT : scheme.equals("https") ? HTTPS_PORT : ANY_PORT;
		if (defaultPort == ANY_PORT || uri.getRawAuthority() == null) {
			return null;
		}
		String host = uri.getHost();
		int port = uri.getPort();
		if (host == null) {
			Matcher authority = UNDERSCORED.matcher(uri.getRawAuthority());
			if (!authority.matches()) {
				return null;
			}
			host = authority.group(1);
			port = (authority.group(2) != null) ? Integer.parseInt(authority.group(2)) : ANY_PORT;
		}
		String path = uri.normalize().getRawPath();
		return new Url(scheme, host.toLowerCase(Locale.ROOT), (port >= 0) ? port : defaultPort,
				path.isEmpty() ? "/" : path);
	}

	/**
	 * Returns whether a normalized URL has exactly this host, and this path or one below
	 * it.
	 */
	boolean matches(Url url) {
		return url.host().equals(this.host) && (this.scheme == null || url.scheme().equals(this.scheme))
				&& (this.port == ANY_PORT || url.port() == this.port) && isBelow(url.path());
	}

	private boolean isBelow(String called) {
		return called.equals(this.path) || called.startsWith(this.path + "/");
	}

	/**
	 * Returns the path of a matching URL below the path of this location, with at least a
	 * slash.
	 */
	String below(Url url) {
		String rest = url.path().substring(this.path.length());
		return rest.isEmpty() ? "/" : rest;
	}

	/**
	 * Whether a port is stated, also by a scheme.
	 */
	boolean hasPort() {
		return this.port != ANY_PORT;
	}

	private static URI read(String text) {
		try {
			return new URI(text);
		}
		catch (URISyntaxException ex) {
			// Its message contains the text.
			throw new IllegalArgumentException(FORM);
		}
	}

	private static void require(boolean condition, String mistake) {
		if (!condition) {
			throw new IllegalArgumentException(FORM + ": " + mistake);
		}
	}

	/**
	 * A normalized URL.
	 *
	 * @param scheme the scheme
	 * @param host the host
	 * @param port the port
	 * @param path the path, at least a slash
	 */
	record Url(String scheme, String host, int port, String path) {

		/**
		 * Returns the place of the service, which is safe to log.
		 */
		String origin() {
			return this.scheme + "://" + this.host + ":" + this.port;
		}

	}

}
