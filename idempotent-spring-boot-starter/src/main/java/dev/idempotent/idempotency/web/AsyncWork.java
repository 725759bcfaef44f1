package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.async.CallableProcessingInterceptor;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * The work of a handler that responds asynchronously. It writes to the buffered response
 * instead of the container's, and may continue after its request has timed out: its end
 * is known for a {@link Callable}, for a {@link CompletionStage} that the handler
 * returned, and for a context that is completed.
 */
final class AsyncWork implements CallableProcessingInterceptor {

	private final CompletableFuture<@Nullable Object> end = new CompletableFuture<>();

	/**
	 * Whether a task has been submitted and waits for a thread.
	 */
	private boolean taskWaits;

	private boolean timedOut;

	/**
	 * Wraps a request whose handler may start asynchronous work.
	 * @param response the response that the work writes to
	 * @param listener receives the events of the container
	 * @param completing called before the container ends the response: some containers
	 * notify their listeners only when the response can no longer be written
	 */
	HttpServletRequest wrap(HttpServletRequest request, HttpServletResponse response, AsyncListener listener,
			Runnable completing) {
		WebAsyncUtils.getAsyncManager(request).registerCallableInterceptor(AsyncWork.class, this);
		return new HttpServletRequestWrapper(request) {

			private volatile @Nullable AsyncContext context;

			@Override
			public AsyncContext startAsync() {
				return startAsync(this, response);
			}

			@Override
			public AsyncContext startAsync(ServletRequest asyncRequest, ServletResponse asyncResponse) {
				AsyncContext started = super.startAsync(asyncRequest, asyncResponse);
				started.addListener(listener);
				AsyncContext intercepted = new InterceptedContext(started, completing);
				this.context = intercepted;
				return intercepted;
			}

			@Override
			public AsyncContext getAsyncContext() {
				AsyncContext started = super.getAsyncContext();
				AsyncContext intercepted = this.context;
				return (intercepted != null) ? intercepted : started;
			}

		};
	}

	/**
	 * Tracks the value that the handler has returned.
	 * @param type the declared return type of the handler method
	 * @return the value for Spring MVC: a copy of a future, because with Reactor on the
	 * class path Spring MVC cancels a future whose request has timed out
	 */
	@Nullable Object returned(Class<?> type, @Nullable Object value) {
		if (value instanceof CompletionStage<?> stage) {
			stage.whenComplete((result, failure) -> ended((failure != null) ? failure : result));
		}
		return (value instanceof CompletableFuture<?> future && type.isAssignableFrom(CompletableFuture.class))
				? future.copy() : value;
	}

	/**
	 * Records that the request has timed out. A task that still waits for a thread will
	 * not start.
	 */
	void timeOut() {
		boolean dropped;
		synchronized (this) {
			this.timedOut = true;
			dropped = this.taskWaits;
			this.taskWaits = false;
		}
		if (dropped) {
			ended(new CancellationException());
		}
	}

	synchronized boolean isTimedOut() {
		return this.timedOut;
	}

	/**
	 * Records the end of the work.
	 * @param result the result of the work, or its exception
	 */
	void ended(@Nullable Object result) {
		// Spring MVC interrupts a task whose request has timed out; callbacks must run.
		boolean interrupted = Thread.interrupted();
		this.end.complete(result);
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Registers a callback for the end of the work.
	 */
	void onEnd(Consumer<@Nullable Object> callback) {
		CompletableFuture<Void> unused = this.end.thenAccept(callback);
	}

	@Override
	public synchronized <T> void beforeConcurrentHandling(NativeWebRequest request, Callable<T> task) {
		this.taskWaits = true;
	}

	@Override
	public synchronized <T> void preProcess(NativeWebRequest request, Callable<T> task) {
		if (!this.taskWaits) {
			throw new CancellationException("The request has timed out before its task started");
		}
		this.taskWaits = false;
	}

	@Override
	public <T> void postProcess(NativeWebRequest request, Callable<T> task, @Nullable Object result) {
		ended(result);
	}

	/**
	 * Runs a callback before the container ends the response, also if a listener of the
	 * application completes the context.
	 */
	private record InterceptedContext(AsyncContext context, Runnable completing) implements AsyncContext {

		@Override
		public void complete() {
			try {
				this.completing.run();
			}
			finally {
				this.context.complete();
			}
		}

		@Override
		public void addListener(AsyncListener listener) {
			this.context.addListener(intercepted(listener));
		}

		@Override
		public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
			this.context.addListener(intercepted(listener), request, response);
		}

		private AsyncListener intercepted(AsyncListener listener) {
			return new AsyncListener() {

				@Override
				public void onComplete(AsyncEvent event) throws IOException {
					listener.onComplete(intercepted(event));
				}

				@Override
				public void onTimeout(AsyncEvent event) throws IOException {
					listener.onTimeout(intercepted(event));
				}

				@Override
				public void onError(AsyncEvent event) throws IOException {
					listener.onError(intercepted(event));
				}

				/**
				 * This event has the context that has just been started.
				 */
				@Override
				public void onStartAsync(AsyncEvent event) throws IOException {
					listener.onStartAsync(event);
				}

			};
		}

		private AsyncEvent intercepted(AsyncEvent event) {
			return new AsyncEvent(this, event.getSuppliedRequest(), event.getSuppliedResponse(), event.getThrowable());
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

	}

}
