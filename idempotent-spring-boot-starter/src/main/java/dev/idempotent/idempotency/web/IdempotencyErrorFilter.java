package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Settles the key of a request whose error page does not reach the
 * {@link IdempotencyFilter}, because another filter rejects the error dispatch, as Spring
 * Security may, or has handled the error itself. Must be mapped to the dispatcher types
 * REQUEST, ASYNC and ERROR, before all other filters.
 */
final class IdempotencyErrorFilter implements Filter {

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		boolean errorPage = request.getDispatcherType() == DispatcherType.ERROR;
		ServletResponse observed = errorPage ? response : ErrorDetectingResponse.wrap(response);
		boolean asyncBefore = request.isAsyncStarted();
		boolean returned = false;
		try {
			chain.doFilter(request, observed);
			returned = true;
		}
		finally {
			HandlerRun open = HandlerRun.of(request);
			if (open != null && (asyncBefore || !request.isAsyncStarted())) {
				int status = statusOf(request, (HttpServletResponse) response);
				if (errorPage) {
					open.settleWithoutErrorPage((HttpServletRequest) request, status);
				}
				else if (!isErrorPageDue(observed, returned)) {
					open.requestEnded((HttpServletRequest) request, status);
				}
			}
		}
	}

	/**
	 * An exception leads to no error page once the response is committed.
	 */
	private static boolean isErrorPageDue(ServletResponse response, boolean returned) {
		return ErrorDetectingResponse.isErrorSent(response) || (!returned && !response.isCommitted());
	}

	private static int statusOf(ServletRequest request, HttpServletResponse response) {
		Object status = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
		return (status instanceof Integer code) ? code : response.getStatus();
	}

}
