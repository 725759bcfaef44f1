package dev.idempotent.idempotency.client;

import java.net.URI;
import java.net.URISyntaxException;

import org.jspecify.annotations.Nullable;

/**
 * Where derived keys may be sent: a host, perhaps with a scheme, a port and a path.
 */
public final class PropagationTarget {

	private static final String FORM = "is no [scheme://]host[:port][/path]";

	private static final int HIGHEST_PORT = 65_535;

	private static final int ANY_PORT = -1;

	private final @Nullable String scheme;

	private final String host;

	private final int port;

	private final String path;

	private PropagationTarget(CalledUrl url, boolean anyScheme, boolean anyPort) {
		this.scheme = anyScheme ? null : url.scheme();
		this.host = url.host();
		this.port = anyPort ? ANY_PORT : url.port();
		this.path = url.path().replaceAll("/+$", "");
	}

	/**
	 * Reads a target. A scheme means its default port unless another is given; without
	 * scheme and port, both schemes and every port of the host are meant. A path means
	 * itself and everything below it.
	 * @param text {@code [scheme://]host[:port][/path]}
	 * @return the target
	 * @throws IllegalArgumentException if the text is malformed; the message leaves the
	 * text out, which might hold credentials
	 */
	public static PropagationTarget parse(String text) {
		String entry = text.strip();
		boolean anyScheme = !entry.contains("://");
		URI uri = read(anyScheme ? "http://" + entry : entry);
		CalledUrl url = CalledUrl.of(uri);
		if (url == null) {
			throw new IllegalArgumentException(FORM + " with the scheme http or https");
		}
		require(uri.getRawUserInfo() == null, "it has user information");
		require(uri.getRawQuery() == null && uri.getRawFragment() == null, "it has a query or fragment");
		require(!uri.getRawAuthority().endsWith(":") && url.port() > 0 && url.port() <= HIGHEST_PORT,
				"its port is not within 1 and " + HIGHEST_PORT);
		require(uri.normalize().equals(uri), "its path has empty or relative segments");
		return new PropagationTarget(url, anyScheme, anyScheme && uri.getPort() < 0);
	}

	/**
	 * Tells whether a request goes to this target: to the very host, and to the path or
	 * below.
	 */
	boolean matches(CalledUrl url) {
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
			// Its message holds the text.
			throw new IllegalArgumentException(FORM);
		}
	}

	private static void require(boolean condition, String mistake) {
		if (!condition) {
			throw new IllegalArgumentException(FORM + ": " + mistake);
		}
	}

}
