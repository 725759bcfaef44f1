package dev.idempotent.idempotency.web;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.LinkedHashSet;
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
	 * Returns the hosts that the client can have addressed, in lower case and without a
	 * port: the hosts that gateways have forwarded, up to the first full domain name, and
	 * without such a name the host of the request itself. The latter counts only if it is
	 * a full domain name and not the name of this machine: a retry may be sent to another
	 * instance.
	 * @return names separated by commas, or an empty string
	 */
	static String host(HttpServletRequest request) {
		String own = ownHost(request);
		Set<String> hosts = forwardedHosts(request, own);
		if (hosts.stream().noneMatch(RequestAddress::isDomainName) && isDomainName(own)
				&& !LocalNames.names.contains(own)) {
			hosts.add(own);
		}
		return String.join(",", hosts);
	}

	/**
	 * Returns the same, or else the host of the request itself, whatever it is.
	 */
	static String hostAsSent(HttpServletRequest request) {
		String host = host(request);
		return host.isEmpty() ? ownHost(request) : host;
	}

	/**
	 * Returns the host that the last hop has sent the request to. The container or a
	 * filter may have replaced it elsewhere.
	 */
	private static String ownHost(HttpServletRequest request) {
		String sent = request.getHeader("Host");
		return nameOf(StringUtils.hasText(sent) ? sent : request.getServerName());
	}

	private static Set<String> forwardedHosts(HttpServletRequest request, String own) {
		Set<String> hosts = new LinkedHashSet<>();
		// Each hop may have added a line of its own.
		Matcher host = FORWARDED_HOST.matcher(String.join(",", Collections.list(request.getHeaders("Forwarded"))));
		add(hosts, host.find() ? host.group(1) : null);
		String first = request.getHeader("X-Forwarded-Host");
		add(hosts, (first != null) ? first.split(",", 2)[0] : null);
		// A forwarded host that is applied already, so that its header may be gone.
		if (!nameOf(request.getServerName()).equals(own)) {
			add(hosts, request.getServerName());
		}
		return hosts;
	}

	private static void add(Set<String> hosts, @Nullable String forwarded) {
		String name = (forwarded != null) ? nameOf(forwarded) : "";
		// The names by which a gateway hides a host.
		boolean hidden = name.isEmpty() || name.equals("unknown") || name.startsWith("_");
		if (!hidden && hosts.stream().noneMatch(RequestAddress::isDomainName)) {
			hosts.add(name);
		}
	}

	private static String nameOf(String host) {
		String name = host.strip().toLowerCase(Locale.ROOT);
		if (name.startsWith("[")) {
			return name.substring(1, (name.indexOf(']') < 0) ? name.length() : name.indexOf(']'));
		}
		if (name.indexOf(':') == name.lastIndexOf(':')) {
			name = PORT.matcher(name).replaceFirst("");
		}
		return name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
	}

	/**
	 * Returns whether a name is not an IP address, and not one that only one network
	 * knows.
	 */
	private static boolean isDomainName(String name) {
		return name.indexOf('.') >= 0 && name.indexOf(':') < 0 && !IPV4.matcher(name).matches();
	}

	/**
	 * Returns the prefix that the client has sent and the application does not map: the
	 * prefix of a gateway, or else the context path. The same whether or not Spring's
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
