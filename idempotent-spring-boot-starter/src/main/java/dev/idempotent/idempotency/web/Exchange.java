package dev.idempotent.idempotency.web;

import java.io.IOException;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.util.WebUtils;

/**
 * One run of a handler under an acquired key, over all dispatches that the container
 * makes of its request, until its answer is stored or its key freed.
 */
abstract class Exchange {

	private static final String ATTRIBUTE = Exchange.class.getName();

	private volatile boolean entered;

	/**
	 * Creates an exchange.
	 * @param entryIsNoted whether {@link #handlerEntered()} will be called
	 */
	Exchange(boolean entryIsNoted) {
		this.entered = !entryIsNoted;
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
	 * Begins with the first dispatch.
	 */
	void begin(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		request.setAttribute(ATTRIBUTE, this);
		dispatch(request, response, chain);
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
			holding = hold(request, response);
			run(hold(request, holding), holding, holding, chain);
		}
	}

	/**
	 * Notes that the handler method was entered.
	 */
	void handlerEntered() {
		this.entered = true;
	}

	/**
	 * Notes that the handler method was left, in whatever way.
	 */
	void handlerLeft() {
	}

	/**
	 * Notes that the handling has ended in an exception, which the application may yet
	 * turn into an answer.
	 */
	void handlingFailed() {
	}

	abstract HoldingResponse hold(HttpServletRequest request, HttpServletResponse response);

	abstract HttpServletRequest hold(HttpServletRequest request, HoldingResponse response);

	abstract void run(HttpServletRequest request, HttpServletResponse response, HoldingResponse holding,
			FilterChain chain) throws IOException, ServletException;

	boolean isEntered() {
		return this.entered;
	}

	static boolean isOpen(ServletRequest request) {
		return of(request) != null;
	}

	static void close(ServletRequest request) {
		request.removeAttribute(ATTRIBUTE);
	}

}
