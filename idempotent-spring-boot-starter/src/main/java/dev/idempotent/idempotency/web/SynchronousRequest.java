package dev.idempotent.idempotency.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * A request that does not support asynchronous processing, because its transaction is
 * bound to the thread.
 */
final class SynchronousRequest extends HttpServletRequestWrapper {

	SynchronousRequest(HttpServletRequest request) {
		super(request);
	}

	@Override
	public AsyncContext startAsync() {
		throw refusal();
	}

	@Override
	public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
		throw refusal();
	}

	private static IllegalStateException refusal() {
		return new IllegalStateException("A handler under Guarantee.TRANSACTION cannot respond asynchronously: its "
				+ "transaction is bound to the thread. Respond before the method returns, or use Guarantee.LEASE.");
	}

}
