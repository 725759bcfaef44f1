package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.springframework.web.util.WebUtils;

/**
 * The outermost response. It tells whether an error was sent to the container, which then
 * makes an error dispatch: a wrapper of another filter may answer the error itself.
 */
final class ErrorDetectingResponse extends HttpServletResponseWrapper {

	private volatile boolean errorSent;

	private ErrorDetectingResponse(HttpServletResponse response) {
		super(response);
	}

	/**
	 * Watches a response, unless an earlier dispatch of the request does.
	 */
	static ServletResponse over(ServletResponse response) {
		return (WebUtils.getNativeResponse(response, ErrorDetectingResponse.class) != null) ? response
				: new ErrorDetectingResponse((HttpServletResponse) response);
	}

	/**
	 * Tells whether an error that was sent to a response has come to the container.
	 * Without a watch it is taken for granted.
	 */
	static boolean hasSeenError(ServletResponse response) {
		ErrorDetectingResponse watch = WebUtils.getNativeResponse(response, ErrorDetectingResponse.class);
		return watch == null || watch.errorSent;
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
