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
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.springframework.web.util.WebUtils;

/**
 * Settles the key of a request whose error page does not reach the
 * {@link IdempotencyFilter}, because another filter rejects the error dispatch, as Spring
 * Security may, or has handled the error itself. Lets the {@link IdempotencyFilter}
 * notice, too, that another filter has read the body. Must be mapped to the dispatcher
 * types REQUEST, ASYNC and ERROR, before all other filters.
 */
final class IdempotencyErrorFilter implements Filter {

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		boolean errorPage = request.getDispatcherType() == DispatcherType.ERROR;
		// An earlier dispatch of the request may have wrapped the response.
		boolean wrapped = WebUtils.getNativeResponse(response, ErrorDetectingResponse.class) != null;
		ServletResponse observed = (errorPage || wrapped) ? response
				: new ErrorDetectingResponse((HttpServletResponse) response);
		boolean asyncBefore = request.isAsyncStarted();
		boolean returned = false;
		try {
			chain.doFilter((request.getDispatcherType() == DispatcherType.REQUEST) ? CountedBody.of(request) : request,
					observed);
			returned = true;
		}
		finally {
			HandlerRun open = HandlerRun.of(request);
			if (open != null && (asyncBefore || !open.isAsync(request))) {
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
		return isErrorSent(response) || (!returned && !response.isCommitted());
	}

	private static int statusOf(ServletRequest request, HttpServletResponse response) {
		Object status = request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE);
		return (status instanceof Integer code) ? code : response.getStatus();
	}

	/**
	 * Returns whether an error was sent to the container; {@code true} if the response is
	 * not wrapped.
	 */
	static boolean isErrorSent(ServletResponse response) {
		ErrorDetectingResponse outermost = WebUtils.getNativeResponse(response, ErrorDetectingResponse.class);
		return outermost == null || outermost.errorSent;
	}

	/**
	 * The outermost response, which detects whether an error reaches the container. The
	 * container then makes an error dispatch, unless a wrapper of another filter has
	 * handled the error itself.
	 */
	private static final class ErrorDetectingResponse extends HttpServletResponseWrapper {

		private volatile boolean errorSent;

		private ErrorDetectingResponse(HttpServletResponse response) {
			super(response);
		}

		@Override
		public void sendError(int status) throws IOException {
			super.sendError(status);
			this.errorSent = true;
		}

		@Override
		public void sendError(int status, String message) throws IOException {
			super.sendError(status, message);
			this.errorSent = true;
		}

		@Override
		public void reset() {
			super.reset();
			this.errorSent = false;
		}

	}

}
