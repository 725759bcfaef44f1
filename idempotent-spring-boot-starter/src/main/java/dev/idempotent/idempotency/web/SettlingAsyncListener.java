package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;

/**
 * Gives a listener of the application the context that the application knows, because it
 * may complete it.
 */
final class SettlingAsyncListener implements AsyncListener {

	private final AsyncListener listener;

	private final AsyncContext context;

	SettlingAsyncListener(AsyncListener listener, AsyncContext context) {
		this.listener = listener;
		this.context = context;
	}

	@Override
	public void onComplete(AsyncEvent event) throws IOException {
		this.listener.onComplete(of(event, this.context));
	}

	@Override
	public void onTimeout(AsyncEvent event) throws IOException {
		this.listener.onTimeout(of(event, this.context));
	}

	@Override
	public void onError(AsyncEvent event) throws IOException {
		this.listener.onError(of(event, this.context));
	}

	/**
	 * The event comes with the context that has just been started anew.
	 */
	@Override
	public void onStartAsync(AsyncEvent event) throws IOException {
		this.listener.onStartAsync(event);
	}

	private static AsyncEvent of(AsyncEvent event, AsyncContext context) {
		return new AsyncEvent(context, event.getSuppliedRequest(), event.getSuppliedResponse(), event.getThrowable());
	}

}
