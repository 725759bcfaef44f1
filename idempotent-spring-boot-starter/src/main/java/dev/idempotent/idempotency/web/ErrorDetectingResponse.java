package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.springframework.web.util.WebUtils;

/**
 * The outermost response, which detects whether an error reaches the container. The
 * container then makes an error dispatch, unless a wrapper of another filter has handled
 * the error itself.
 */
final class ErrorDetectingResponse extends HttpServletResponseWrapper {

	private volatile boolean errorSent;

	private ErrorDetectingResponse(HttpServletResponse response) {
		super(response);
	}

	/**
	 * Wraps a response, unless an earlier dispatch of the request has wrapped it.
	 */
	static ServletResponse wrap(ServletResponse response) {
		return (WebUtils.getNativeResponse(response, ErrorDetectingResponse.class) != null) ? response
				: new ErrorDetectingResponse((HttpServletResponse) response);
	}

	/**
	 * Returns whether an error was sent to the container; {@code true} if the response is
	 * not wrapped.
	 */
	static boolean isErrorSent(ServletResponse response) {
		ErrorDetectingResponse outermost = WebUtils.getNativeResponse(response, ErrorDetectingResponse.class);
		return outermost == null || outermost.errorSent;
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
