package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a callback before the container ends the response: some containers notify their
 * listeners only when the response can no longer be written.
 */
final class InterceptedAsyncContext implements AsyncContext {

	private static final Logger logger = LoggerFactory.getLogger(InterceptedAsyncContext.class);

	private final AsyncContext context;

	private final CompletionCallback callback;

	InterceptedAsyncContext(AsyncContext context, CompletionCallback callback) {
		this.context = context;
		this.callback = callback;
	}

	@Override
	public void complete() {
		try {
			this.callback.completing();
		}
		catch (IOException ex) {
			logger.debug("The client disconnected before its response was sent", ex);
		}
		finally {
			this.context.complete();
		}
	}

	@Override
	public void addListener(AsyncListener listener) {
		this.context.addListener(new InterceptedListener(listener, this));
	}

	@Override
	public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
		this.context.addListener(new InterceptedListener(listener, this), request, response);
	}

	@Override
	public ServletRequest getRequest() {
		return this.context.getRequest();
	}

	@Override
	public ServletResponse getResponse() {
		return this.context.getResponse();
	}

	@Override
	public boolean hasOriginalRequestAndResponse() {
		return this.context.hasOriginalRequestAndResponse();
	}

	@Override
	public void dispatch() {
		this.context.dispatch();
	}

	@Override
	public void dispatch(String path) {
		this.context.dispatch(path);
	}

	@Override
	public void dispatch(ServletContext servletContext, String path) {
		this.context.dispatch(servletContext, path);
	}

	@Override
	public void start(Runnable work) {
		this.context.start(work);
	}

	@Override
	public <T extends AsyncListener> T createListener(Class<T> type) throws ServletException {
		return this.context.createListener(type);
	}

	@Override
	public void setTimeout(long timeout) {
		this.context.setTimeout(timeout);
	}

	@Override
	public long getTimeout() {
		return this.context.getTimeout();
	}

	/**
	 * Called before the container ends the response.
	 */
	@FunctionalInterface
	interface CompletionCallback {

		void completing() throws IOException;

	}

	/**
	 * Passes the intercepted context to a listener of the application, which may complete
	 * it.
	 */
	private record InterceptedListener(AsyncListener listener, AsyncContext context) implements AsyncListener {

		@Override
		public void onComplete(AsyncEvent event) throws IOException {
			this.listener.onComplete(intercepted(event));
		}

		@Override
		public void onTimeout(AsyncEvent event) throws IOException {
			this.listener.onTimeout(intercepted(event));
		}

		@Override
		public void onError(AsyncEvent event) throws IOException {
			this.listener.onError(intercepted(event));
		}

		/**
		 * This event has the context that has just been started.
		 */
		@Override
		public void onStartAsync(AsyncEvent event) throws IOException {
			this.listener.onStartAsync(event);
		}

		private AsyncEvent intercepted(AsyncEvent event) {
			return new AsyncEvent(this.context, event.getSuppliedRequest(), event.getSuppliedResponse(),
					event.getThrowable());
		}

	}

}
