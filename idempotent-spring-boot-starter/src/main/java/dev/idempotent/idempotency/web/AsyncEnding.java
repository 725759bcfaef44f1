package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Tells an exchange of asynchronous work that ends without another dispatch.
 */
final class AsyncEnding implements AsyncListener {

	private final LeaseHandlerRun exchange;

	private final HttpServletRequest request;

	private final BufferedResponse response;

	AsyncEnding(LeaseHandlerRun exchange, HttpServletRequest request, BufferedResponse response) {
		this.exchange = exchange;
		this.request = request;
		this.response = response;
	}

	@Override
	public void onComplete(AsyncEvent event) throws IOException {
		this.exchange.asyncCompleted(this.request, this.response);
	}

	@Override
	public void onError(AsyncEvent event) {
		this.exchange.asyncFailed(this.request, this.response);
	}

	@Override
	public void onTimeout(AsyncEvent event) {
		this.exchange.asyncTimedOut();
	}

	@Override
	public void onStartAsync(AsyncEvent event) {
		// The request that has started it registers anew.
	}

}
