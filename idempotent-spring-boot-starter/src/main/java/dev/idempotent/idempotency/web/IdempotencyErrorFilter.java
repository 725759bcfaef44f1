package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Frees the key of a request whose error page never came to the
 * {@link IdempotencyFilter}, for example because Spring Security refused the error
 * dispatch. To be mapped to the dispatcher type ERROR, before all other filters.
 */
public final class IdempotencyErrorFilter implements Filter {

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		boolean asyncBefore = request.isAsyncStarted();
		try {
			chain.doFilter(request, response);
		}
		finally {
			Exchange open = Exchange.of(request);
			if (open != null && (asyncBefore || !request.isAsyncStarted())) {
				open.errorPageMissed((HttpServletRequest) request);
			}
		}
	}

}
