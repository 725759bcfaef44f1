package dev.idempotent.idempotency.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

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
		URI url = normalize(uri);
		if (url == null) {
			throw new IllegalArgumentException(FORM + " with the scheme http or https");
		}
		require(uri.getRawUserInfo() == null, "it has user information");
		require(uri.getRawQuery() == null && uri.getRawFragment() == null, "it has a query or fragment");
		require(!uri.getRawAuthority().endsWith(":") && url.getPort() > 0 && url.getPort() <= HIGHEST_PORT,
				"its port is not between 1 and " + HIGHEST_PORT);
		require(uri.normalize().equals(uri), "its path has empty or relative segments");
		boolean anyPort = anyScheme && uri.getPort() < 0;
		return new TargetLocation(anyScheme ? null : url.getScheme(), url.getHost(), anyPort ? ANY_PORT : url.getPort(),
				url.getRawPath().replaceAll("/+$", ""));
	}

	/**
	 * Normalizes a URL: scheme and host in lower case, with a port, and without user
	 * information, query, fragment and relative path segments.
	 * @return the URL, with at least a slash as its path; {@code null} without a host or
	 * with a scheme other than HTTP's
	 */
	static @Nullable URI normalize(URI uri) {
		String scheme = (uri.getScheme() != null) ? uri.getScheme().toLowerCase(Locale.ROOT) : "";
		int defaultPort = scheme.equals("http") ? HTTP_PORT : scheme.equals("https") ? HTTPS_PORT : ANY_PORT;
		if (uri.getHost() == null || defaultPort == ANY_PORT) {
			return null;
		}
		int port = (uri.getPort() >= 0) ? uri.getPort() : defaultPort;
		String path = uri.normalize().getRawPath();
		return URI.create(
				scheme + "://" + uri.getHost().toLowerCase(Locale.ROOT) + ":" + port + (path.isEmpty() ? "/" : path));
	}

	/**
	 * Returns whether a normalized URL has exactly this host, and this path or one below
	 * it.
	 */
	boolean matches(URI url) {
		return url.getHost().equals(this.host) && (this.scheme == null || url.getScheme().equals(this.scheme))
				&& (this.port == ANY_PORT || url.getPort() == this.port) && isBelow(url.getRawPath());
	}

	private boolean isBelow(String called) {
		return called.equals(this.path) || called.startsWith(this.path + "/");
	}

	/**
	 * Returns the path of a matching URL below the path of this location, with at least a
	 * slash.
	 */
	String below(URI url) {
		String rest = url.getRawPath().substring(this.path.length());
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
			return new URI(text).parseServerAuthority();
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

}
