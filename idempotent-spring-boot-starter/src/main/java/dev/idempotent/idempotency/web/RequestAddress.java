package dev.idempotent.idempotency.web;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * The address that the client has sent a request to. Gateways forward it in headers,
 * which a filter or the container may already have applied to the request.
 */
final class RequestAddress {

	private static final Pattern FORWARDED_HOST = Pattern.compile("(?:^|[;,\\s])host=\"?([^\",;\\s]+)",
			Pattern.CASE_INSENSITIVE);

	private static final Pattern PORT = Pattern.compile(":\\d*$");

	private static final Pattern IPV4 = Pattern.compile("[\\d.]+");

	private RequestAddress() {
	}

	/**
	 * Returns the host in lower case and without a port. An address of one instance
	 * counts as no host: a retry may be sent to another one.
	 * @return a name with a dot, or an empty string
	 */
	static String host(HttpServletRequest request) {
		String forwarded = forwardedHost(request);
		if (forwarded != null) {
			return nameOf(forwarded);
		}
		String name = nameOf(request.getServerName());
		return (!name.isEmpty() && LocalNames.names.contains(name)) ? "" : name;
	}

	private static @Nullable String forwardedHost(HttpServletRequest request) {
		String forwarded = request.getHeader("Forwarded");
		Matcher host = (forwarded != null) ? FORWARDED_HOST.matcher(forwarded) : null;
		if (host != null && host.find()) {
			return host.group(1);
		}
		String first = request.getHeader("X-Forwarded-Host");
		return (first != null) ? first.split(",", 2)[0] : null;
	}

	/**
	 * Returns the name of a host, or an empty string for an IP address or a name that
	 * only one network knows.
	 */
	private static String nameOf(String host) {
		String name = host.strip().toLowerCase(Locale.ROOT);
		if (name.startsWith("[")) {
			return "";
		}
		name = PORT.matcher(name).replaceFirst("");
		name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
		return (name.indexOf('.') < 0 || name.indexOf(':') >= 0 || IPV4.matcher(name).matches()) ? "" : name;
	}

	/**
	 * Returns the prefix that the client has sent and the application does not map: that
	 * of a gateway, or else the context path. The same whether or not Spring's
	 * {@code ForwardedHeaderFilter} has applied the header.
	 */
	static String prefix(HttpServletRequest request) {
		String forwarded = request.getHeader("X-Forwarded-Prefix");
		if (forwarded == null) {
			return contextPath(request);
		}
		StringBuilder prefix = new StringBuilder();
		for (String part : StringUtils.tokenizeToStringArray(forwarded, ",")) {
			prefix.append(StringUtils.trimTrailingCharacter(part, '/'));
		}
		return prefix.toString();
	}

	/**
	 * Returns the path within the application, with the path of its servlet.
	 */
	static String path(HttpServletRequest request) {
		String uri = request.getRequestURI();
		String context = contextPath(request);
		if (uri.startsWith(context)) {
			return uri.substring(context.length());
		}
		// Some containers return the context path in another spelling than the client's.
		int end = 0;
		for (int i = 0; i < StringUtils.countOccurrencesOf(context, "/") && end >= 0; i++) {
			end = uri.indexOf('/', end + 1);
		}
		return (end < 0) ? "" : uri.substring(end);
	}

	private static String contextPath(HttpServletRequest request) {
		String context = request.getContextPath();
		return (context == null || context.equals("/")) ? "" : context;
	}

	/**
	 * The names of this machine. Read when a request has the name of a host: it may take
	 * a while.
	 */
	private static final class LocalNames {

		static final Set<String> names = read();

		private static Set<String> read() {
			try {
				InetAddress local = InetAddress.getLocalHost();
				return Stream.of(local.getHostName(), local.getCanonicalHostName())
					.map((name) -> name.toLowerCase(Locale.ROOT))
					.collect(Collectors.toUnmodifiableSet());
			}
			catch (UnknownHostException ex) {
				return Set.of();
			}
		}

	}

}
