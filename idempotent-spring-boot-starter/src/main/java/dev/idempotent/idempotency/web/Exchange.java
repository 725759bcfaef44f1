package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.Claimant;
import dev.idempotent.idempotency.StoredResponse;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.util.WebUtils;

/**
 * One run of a handler under an acquired key, over all dispatches that the container
 * makes of its request, until its answer is stored or its key freed.
 */
final class Exchange {

	private static final String ATTRIBUTE = Exchange.class.getName();

	/**
	 * What Spring MVC sets for such handlers, so that nobody caches their content.
	 * @see ShallowEtagHeaderFilter#disableContentCaching
	 */
	private static final String HANDLER_STREAMS = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

	private final Claimant claimant;

	private final ResponsePolicy policy;

	private volatile boolean entered;

	/**
	 * An error page is due, which may never come.
	 */
	private volatile boolean failed;

	private Exchange(Claimant claimant, boolean entryIsNoted, ResponsePolicy policy) {
		this.claimant = claimant;
		this.entered = !entryIsNoted;
		this.policy = policy;
	}

	/**
	 * Begins the run of an acquired key.
	 * @param entryIsNoted whether {@link #handlerEntered()} will be called
	 */
	static Exchange begin(ServletRequest request, Claimant claimant, boolean entryIsNoted, ResponsePolicy policy) {
		Exchange exchange = new Exchange(claimant, entryIsNoted, policy);
		request.setAttribute(ATTRIBUTE, exchange);
		return exchange;
	}

	/**
	 * Notes that the handler method was entered.
	 */
	void handlerEntered() {
		this.entered = true;
	}

	/**
	 * Finds the open exchange of the request that is being handled.
	 */
	static @Nullable Exchange of(RequestAttributes request) {
		return (Exchange) request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
	}

	/**
	 * Finds the exchange that an earlier dispatch of the request has left open.
	 */
	static @Nullable Exchange of(ServletRequest request) {
		return (Exchange) request.getAttribute(ATTRIBUTE);
	}

	/**
	 * Lets one dispatch run, and settles the key if the answer is whole after it.
	 */
	void dispatch(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		HoldingResponse holding = WebUtils.getNativeResponse(response, HoldingResponse.class);
		if (holding != null) {
			run(request, response, holding, chain);
		}
		else {
			// The first dispatch, or an error dispatch with the container's own response.
			holding = new HoldingResponse(response, this.policy.maxBody(),
					() -> request.getAttribute(HANDLER_STREAMS) != null);
			run(new HeldRequest(request, holding), holding, holding, chain);
		}
	}

	private void run(HttpServletRequest request, HttpServletResponse response, HoldingResponse holding,
			FilterChain chain) throws IOException, ServletException {
		// In the error page for asynchronous work that the container has given up.
		boolean abandoned = request.isAsyncStarted();
		boolean returned = false;
		try {
			chain.doFilter(request, response);
			returned = true;
		}
		finally {
			if (!returned && request.getDispatcherType() != DispatcherType.FORWARD) {
				fail(request);
			}
		}
		if (!isOpen(request)) {
			return;
		}
		if (request.isAsyncStarted() && !abandoned) {
			request.getAsyncContext().addListener(new AsyncEnding(this, request, holding));
		}
		else {
			settle(request, holding);
		}
	}

	/**
	 * Asynchronous work has ended, perhaps without another dispatch.
	 */
	void asyncCompleted(HttpServletRequest request, HoldingResponse response) throws IOException {
		if (isOpen(request) && !this.failed && !response.isErrorSent()) {
			settle(request, response);
		}
	}

	/**
	 * Asynchronous work was given up by the container: because nobody reads its stream,
	 * or with an error page that may come after everything else has ended.
	 */
	void asyncFailed(HttpServletRequest request, HoldingResponse response) {
		if (isOpen(request) && response.isStreaming()) {
			complete(request, StoredResponse.notKept());
		}
		else {
			awaitErrorPage();
		}
	}

	private void settle(HttpServletRequest request, HoldingResponse response) throws IOException {
		if (!this.entered || !this.policy.isStored(response.getStatus())) {
			free(request);
		}
		else if (response.isErrorSent()) {
			this.claimant.stopRenewal();
			return;
		}
		else {
			CapturedResponse captured = response.capture();
			complete(request, response.isStreaming() ? StoredResponse.notKept() : captured.encode());
		}
		response.sendHeld();
	}

	/**
	 * An exception leaves the application: its error page is yet to be written.
	 */
	private void fail(ServletRequest request) {
		if (this.entered && this.policy.keepsErrors()) {
			awaitErrorPage();
		}
		else {
			free(request);
		}
	}

	private void awaitErrorPage() {
		this.failed = true;
		this.claimant.stopRenewal();
	}

	private void complete(ServletRequest request, StoredResponse response) {
		this.claimant.complete(response);
		close(request);
	}

	private void free(ServletRequest request) {
		this.claimant.release();
		close(request);
	}

	private static boolean isOpen(ServletRequest request) {
		return of(request) != null;
	}

	private static void close(ServletRequest request) {
		request.removeAttribute(ATTRIBUTE);
	}

}
