package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

/**
 * A request whose asynchronous work writes to the buffered response instead of the
 * container's, and reports its end to a callback before the container ends the response.
 */
final class AsyncInterceptingRequest extends HttpServletRequestWrapper {

	private final BufferedResponse response;

	private final Callback callback;

	private volatile @Nullable AsyncContext context;

	AsyncInterceptingRequest(HttpServletRequest request, BufferedResponse response, Callback callback) {
		super(request);
		this.response = response;
		this.callback = callback;
	}

	@Override
	public AsyncContext startAsync() {
		return startAsync(this, this.response);
	}

	@Override
	public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
		AsyncContext started = super.startAsync(request, response);
		started.addListener(new CallbackListener(this.callback, this, this.response));
		AsyncContext intercepted = new InterceptedAsyncContext(started,
				() -> this.callback.asyncCompleting(this, this.response));
		this.context = intercepted;
		return intercepted;
	}

	@Override
	public AsyncContext getAsyncContext() {
		AsyncContext started = super.getAsyncContext();
		AsyncContext intercepted = this.context;
		return (intercepted != null) ? intercepted : started;
	}

	/**
	 * Receives the events of asynchronous work that ends without another dispatch.
	 */
	interface Callback {

		/**
		 * Called before the container ends the response.
		 */
		void asyncCompleting(HttpServletRequest request, BufferedResponse response) throws IOException;

		/**
		 * Called after the container has ended the response.
		 */
		void asyncCompleted(HttpServletRequest request, BufferedResponse response) throws IOException;

		/**
		 * Called when the container reports an error of the asynchronous work.
		 */
		void asyncFailed(HttpServletRequest request, BufferedResponse response);

		/**
		 * Called when the request is about to end although its work may continue.
		 */
		void asyncTimedOut();

	}

	private record CallbackListener(Callback callback, HttpServletRequest request,
			BufferedResponse response) implements AsyncListener {

		@Override
		public void onComplete(AsyncEvent event) throws IOException {
			this.callback.asyncCompleted(this.request, this.response);
		}

		@Override
		public void onError(AsyncEvent event) {
			this.callback.asyncFailed(this.request, this.response);
		}

		@Override
		public void onTimeout(AsyncEvent event) {
			this.callback.asyncTimedOut();
		}

		@Override
		public void onStartAsync(AsyncEvent event) {
			// The request that restarts it registers another listener.
		}

	}

}
