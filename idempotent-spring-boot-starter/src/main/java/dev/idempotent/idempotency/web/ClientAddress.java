package dev.idempotent.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Where the client has sent a request, as far as it may tell two tenants apart.
 */
public final class ClientAddress {

	private ClientAddress() {
	}

	/**
	 * Returns the host and the prefix of a gateway.
	 * @param request the request
	 * @return one text for all spellings; empty if there are none
	 */
	public static String of(HttpServletRequest request) {
		String host = RequestAddress.host(request);
		String prefix = prefix(request);
		return (host.isEmpty() && prefix.isEmpty()) ? "" : host + '/' + prefix;
	}

	/**
	 * Returns the {@linkplain RequestAddress#prefix prefix} in
	 * {@linkplain RequestUrl#normalize normal} percent-encoding.
	 */
	static String prefix(HttpServletRequest request) {
		return RequestUrl.normalize(RequestAddress.prefix(request));
	}

}
