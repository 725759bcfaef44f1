package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;

import dev.idempotent.idempotency.IdempotencyContext;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.util.DisconnectedClientHelper;
import org.springframework.web.util.WebUtils;

/**
 * One run of a handler under an acquired key, over all dispatches that the container
 * makes of its request, until its answer is stored or its key freed. They have one
 * {@link IdempotencyContext}; an error page that comes after the key was freed has none.
 */
abstract class HandlerRun {

	private static final String ATTRIBUTE = HandlerRun.class.getName();

	private static final Logger logger = LoggerFactory.getLogger(HandlerRun.class);

	private final IdempotencyContext context;

	private volatile @Nullable BufferedResponse held;

	private volatile boolean entered;

	private volatile @Nullable Exception unanswered;

	/**
	 * Creates an exchange.
	 * @param context the context of the acquired claim
	 * @param entryIsNoted whether {@link #handlerEntered()} will be called
	 */
	HandlerRun(IdempotencyContext context, boolean entryIsNoted) {
		this.context = context;
		this.entered = !entryIsNoted;
	}

	/**
	 * Finds the open exchange of the request that is being handled.
	 */
	static @Nullable HandlerRun of(RequestAttributes request) {
		return (HandlerRun) request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
	}

	/**
	 * Finds the exchange that an earlier dispatch of the request has left open.
	 */
	static @Nullable HandlerRun of(ServletRequest request) {
		return (HandlerRun) request.getAttribute(ATTRIBUTE);
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
	 * Lets one dispatch run in the context, and settles the key if the answer is whole
	 * after it. Leaves the thread as it was.
	 */
	void dispatch(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		IdempotencyContext outer = IdempotencyContext.bind(this.context);
		try {
			runHeld(request, response, chain);
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	private void runHeld(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		BufferedResponse holding = WebUtils.getNativeResponse(response, BufferedResponse.class);
		if (holding != null) {
			run(request, response, holding, chain);
		}
		else {
			// The first dispatch, or an error dispatch with the container's own response.
			holding = hold(request, response);
			BufferedResponse before = this.held;
			if (before != null) {
				holding.stated().takeOver(before.stated(), holding);
			}
			this.held = holding;
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
	 * Notes what the handler method has returned.
	 * @return what Spring MVC shall have in its place
	 */
	@Nullable Object handlerReturned(Method method, @Nullable Object value) {
		return value;
	}

	/**
	 * Notes that the handling has ended in an exception, which the application may yet
	 * turn into an answer.
	 */
	void handlingFailed(Exception failure) {
		if (DisconnectedClientHelper.isClientDisconnectedException(failure)) {
			this.unanswered = failure;
		}
	}

	/**
	 * Spring MVC takes a failure that has to do with a lost connection, be it one to a
	 * database, for a client that has gone, and leaves an empty 200.
	 */
	void answerWhatNobodyDid(HttpServletRequest request, BufferedResponse holding) throws IOException {
		Exception failure = this.unanswered;
		if (failure != null && !request.isAsyncStarted() && holding.isUntouched()) {
			logger.error("A handler has failed because a connection was lost", failure);
			holding.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
		}
		this.unanswered = null;
	}

	abstract BufferedResponse hold(HttpServletRequest request, HttpServletResponse response);

	abstract HttpServletRequest hold(HttpServletRequest request, BufferedResponse response);

	abstract void run(HttpServletRequest request, HttpServletResponse response, BufferedResponse holding,
			FilterChain chain) throws IOException, ServletException;

	/**
	 * Settles the key of a request that has ended without an error page, if it is still
	 * open. An error that was sent is sent again on a replay: the filter that has
	 * answered it will do so again.
	 */
	void ended(HttpServletRequest request, int status) throws IOException {
		errorAnswered(request);
		if (isOpen(request)) {
			errorPageMissed(request, status);
		}
	}

	void errorAnswered(HttpServletRequest request) throws IOException {
		BufferedResponse holding = this.held;
		if (isOpen(request) && holding != null && holding.isErrorSent()) {
			errorAnswered(request, holding);
		}
	}

	/**
	 * Stores an error that a filter has answered in place of the container.
	 */
	abstract void errorAnswered(HttpServletRequest request, BufferedResponse holding) throws IOException;

	/**
	 * Settles the key of a request whose error page did not, because another filter has
	 * answered the error or the error page has failed: the client got another answer than
	 * the one that was to be stored.
	 * @param request the request
	 * @param status the status of the error
	 */
	abstract void errorPageMissed(HttpServletRequest request, int status);

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
