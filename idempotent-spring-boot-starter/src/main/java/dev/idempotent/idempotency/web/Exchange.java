package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.Set;

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
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.util.WebUtils;

/**
 * One run of a handler under an acquired key, over all dispatches that the container
 * makes of its request, until its answer is stored or its key freed.
 */
final class Exchange {

	private static final String ATTRIBUTE = Exchange.class.getName();

	/**
	 * Below 500, yet about this attempt and not about the work.
	 */
	private static final Set<Integer> NOT_STORED = Set.of(401, 403, 408, 409, 425, 429);

	private final Claimant claimant;

	private final int maxResponseBody;

	private volatile boolean entered;

	private Exchange(Claimant claimant, boolean entryIsNoted, int maxResponseBody) {
		this.claimant = claimant;
		this.entered = !entryIsNoted;
		this.maxResponseBody = maxResponseBody;
	}

	/**
	 * Begins the run of an acquired key.
	 * @param entryIsNoted whether {@link #handlerEntered()} will be called
	 */
	static Exchange begin(ServletRequest request, Claimant claimant, boolean entryIsNoted, int maxResponseBody) {
		Exchange exchange = new Exchange(claimant, entryIsNoted, maxResponseBody);
		request.setAttribute(ATTRIBUTE, exchange);
		return exchange;
	}

	/**
	 * Notes that the handler method of the current request was entered.
	 */
	static void handlerEntered() {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		Object exchange = (request != null) ? request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST) : null;
		if (exchange != null) {
			((Exchange) exchange).entered = true;
		}
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
		// An error dispatch brings the container's own response.
		boolean fresh = (holding == null);
		if (holding == null) {
			holding = new HoldingResponse(response, this.maxResponseBody);
		}
		boolean returned = false;
		try {
			chain.doFilter(request, fresh ? holding : response);
			returned = true;
		}
		finally {
			if (!returned && request.getDispatcherType() != DispatcherType.FORWARD) {
				free(request);
			}
		}
		if (isOpen(request) && !request.isAsyncStarted()) {
			settle(request, holding);
		}
	}

	private void settle(HttpServletRequest request, HoldingResponse response) throws IOException {
		if (!this.entered || !isStored(response.getStatus())) {
			free(request);
		}
		else if (response.isErrorSent()) {
			this.claimant.stopRenewal();
			return;
		}
		else {
			CapturedResponse captured = response.capture();
			this.claimant.complete(response.isStreaming() ? StoredResponse.notKept() : captured.encode());
			close(request);
		}
		response.sendHeld();
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

	private static boolean isStored(int status) {
		return status < 500 && !NOT_STORED.contains(status);
	}

}
