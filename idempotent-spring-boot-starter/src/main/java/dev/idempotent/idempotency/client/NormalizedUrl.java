package dev.idempotent.idempotency.client;

import java.net.URI;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * The normalized URL of a request: scheme and host in lower case, with a port, and
 * without user information, query, fragment and relative path segments.
 *
 * @param path the path, still encoded; at least a slash
 */
record NormalizedUrl(String scheme, String host, int port, String path) {

	/**
	 * Normalizes a URI.
	 * @return the URL, or {@code null} without a host or with a scheme other than HTTP's
	 */
	static @Nullable NormalizedUrl of(URI uri) {
		String scheme = (uri.getScheme() != null) ? uri.getScheme().toLowerCase(Locale.ROOT) : "";
		int defaultPort = defaultPort(scheme);
		if (uri.getHost() == null || defaultPort < 0) {
			return null;
		}
		int port = (uri.getPort() >= 0) ? uri.getPort() : defaultPort;
		String path = uri.normalize().getRawPath();
		return new NormalizedUrl(scheme, uri.getHost().toLowerCase(Locale.ROOT), port, path.isEmpty() ? "/" : path);
	}

	private static int defaultPort(String scheme) {
		return switch (scheme) {
			case "http" -> 80;
			case "https" -> 443;
			default -> -1;
		};
	}

	@Override
	public String toString() {
		return this.scheme + "://" + this.host + ":" + this.port + this.path;
	}

}
