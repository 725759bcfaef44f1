package dev.idempotent.idempotency.client;

import java.net.URI;
import java.net.URISyntaxException;

import org.jspecify.annotations.Nullable;

/**
 * A service that derived keys may be sent to: a host, optionally with a scheme, a port
 * and a path.
 */
public final class PropagationTarget {

	private static final String FORM = "is not of the form [scheme://]host[:port][/path]";

	private static final int HIGHEST_PORT = 65_535;

	private static final int ANY_PORT = -1;

	private final @Nullable String scheme;

	private final String host;

	private final int port;

	private final String path;

	private PropagationTarget(NormalizedUrl url, boolean anyScheme, boolean anyPort) {
		this.scheme = anyScheme ? null : url.scheme();
		this.host = url.host();
		this.port = anyPort ? ANY_PORT : url.port();
		this.path = url.path().replaceAll("/+$", "");
	}

	/**
	 * Parses a target. A scheme implies its default port; without scheme and port, both
	 * schemes and every port of the host match. A path matches itself and all paths below
	 * it.
	 * @param text {@code [scheme://]host[:port][/path]}
	 * @return the target
	 * @throws IllegalArgumentException if the text is malformed; the message omits the
	 * text, which might contain credentials
	 */
	public static PropagationTarget parse(String text) {
		String entry = text.strip();
		boolean anyScheme = !entry.contains("://");
		URI uri = read(anyScheme ? "http://" + entry : entry);
		NormalizedUrl url = NormalizedUrl.of(uri);
		if (url == null) {
			throw new IllegalArgumentException(FORM + " with the scheme http or https");
		}
		require(uri.getRawUserInfo() == null, "it has user information");
		require(uri.getRawQuery() == null && uri.getRawFragment() == null, "it has a query or fragment");
		require(!uri.getRawAuthority().endsWith(":") && url.port() > 0 && url.port() <= HIGHEST_PORT,
				"its port is not between 1 and " + HIGHEST_PORT);
		require(uri.normalize().equals(uri), "its path has empty or relative segments");
		return new PropagationTarget(url, anyScheme, anyScheme && uri.getPort() < 0);
	}

	/**
	 * Returns whether a URL has exactly this host, and this path or one below it.
	 */
	boolean matches(NormalizedUrl url) {
		return url.host().equals(this.host) && (this.scheme == null || url.scheme().equals(this.scheme))
				&& (this.port == ANY_PORT || url.port() == this.port) && isBelow(url.path());
	}

	private boolean isBelow(String called) {
		return called.equals(this.path) || called.startsWith(this.path + "/");
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
