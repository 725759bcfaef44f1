package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles the answer before the container ends the response: some containers tell their
 * listeners when nothing can be written any more.
 */
final class SettlingAsyncContext implements AsyncContext {

	private static final Logger logger = LoggerFactory.getLogger(SettlingAsyncContext.class);

	private final AsyncContext context;

	private final LeaseHandlerRun exchange;

	private final HttpServletRequest request;

	private final BufferedResponse response;

	SettlingAsyncContext(AsyncContext context, LeaseHandlerRun exchange, HttpServletRequest request,
			BufferedResponse response) {
		this.context = context;
		this.exchange = exchange;
		this.request = request;
		this.response = response;
	}

	@Override
	public void complete() {
		try {
			this.exchange.asyncCompleting(this.request, this.response);
		}
		catch (IOException ex) {
			logger.debug("The client has gone before it was sent its answer", ex);
		}
		finally {
			this.context.complete();
		}
	}

	@Override
	public void addListener(AsyncListener listener) {
		this.context.addListener(new SettlingAsyncListener(listener, this));
	}

	@Override
	public void addListener(AsyncListener listener, ServletRequest request, ServletResponse response) {
		this.context.addListener(new SettlingAsyncListener(listener, this), request, response);
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
