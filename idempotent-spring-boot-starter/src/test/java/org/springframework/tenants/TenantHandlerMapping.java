package org.springframework.tenants;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;

/**
 * A mapping of a library whose packages have Spring's prefix, as many have. It selects a
 * handler by a header.
 */
public final class TenantHandlerMapping implements HandlerMapping, Ordered {

	private final String path;

	private final HandlerMethod one;

	private final HandlerMethod other;

	public TenantHandlerMapping(String path, HandlerMethod one, HandlerMethod other) {
		this.path = path;
		this.one = one;
		this.other = other;
	}

	@Override
	public int getOrder() {
		return -1;
	}

	@Override
	public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
		if (!request.getRequestURI().equals(this.path)) {
			return null;
		}
		HandlerMethod found = "a".equals(request.getHeader("X-Tenant")) ? this.one : this.other;
		HandlerMethod resolved = found.createWithResolvedBean();
		request.setAttribute(BEST_MATCHING_HANDLER_ATTRIBUTE, resolved);
		return new HandlerExecutionChain(resolved);
	}

}
