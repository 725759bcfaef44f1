package dev.idempotent.idempotency.web.filters;

import java.io.IOException;
import java.security.Principal;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.stereotype.Component;

/**
 * Authenticates callers without Spring Security; has no order.
 */
@Component
class ApiKeyFilter implements Filter {

	static final String API_KEY = "X-Api-Key";

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		HttpServletRequest http = (HttpServletRequest) request;
		String caller = http.getHeader(API_KEY);
		if (caller == null) {
			((HttpServletResponse) response).setStatus(HttpServletResponse.SC_UNAUTHORIZED);
			return;
		}
		chain.doFilter(new HttpServletRequestWrapper(http) {

			@Override
			public Principal getUserPrincipal() {
				return () -> caller;
			}

		}, response);
	}

}
