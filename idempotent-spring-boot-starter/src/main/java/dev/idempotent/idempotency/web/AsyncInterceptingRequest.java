package dev.idempotent.idempotency.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * A request whose asynchronous work writes to the held response, where the container
 * would hand out its own, and whose answer is settled before the container ends it.
 */
final class AsyncInterceptingRequest extends HttpServletRequestWrapper {

	private final BufferedResponse response;

	private final LeaseHandlerRun exchange;

	private volatile @Nullable AsyncContext held;

	AsyncInterceptingRequest(HttpServletRequest request, BufferedResponse response, LeaseHandlerRun exchange) {
		super(request);
		this.response = response;
		this.exchange = exchange;
	}

	@Override
	public AsyncContext startAsync() {
		return startAsync(this, this.response);
	}

	@Override
	public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
		AsyncContext started = super.startAsync(request, response);
		started.addListener(new AsyncEnding(this.exchange, this, this.response));
		AsyncContext context = new SettlingAsyncContext(started, this.exchange, this, this.response);
		this.held = context;
		return context;
	}

	@Override
	public AsyncContext getAsyncContext() {
		AsyncContext started = super.getAsyncContext();
		AsyncContext context = this.held;
		return (context != null) ? context : started;
	}

}
