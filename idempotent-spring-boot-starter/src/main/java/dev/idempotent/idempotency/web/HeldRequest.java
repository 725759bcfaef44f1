package dev.idempotent.idempotency.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * A request whose asynchronous work writes to the held response, where the container
 * would hand out its own.
 */
final class HeldRequest extends HttpServletRequestWrapper {

	private final HoldingResponse response;

	HeldRequest(HttpServletRequest request, HoldingResponse response) {
		super(request);
		this.response = response;
	}

	@Override
	public AsyncContext startAsync() {
		return startAsync(this, this.response);
	}

}
