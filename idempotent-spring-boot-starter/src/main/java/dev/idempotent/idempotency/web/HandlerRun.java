package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.web.OperationTable.Handler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.util.DisconnectedClientHelper;
import org.springframework.web.util.WebUtils;

/**
 * One run of a handler under an acquired key, across all dispatches that the container
 * makes of its request, until its response is stored or its key released. The dispatches
 * share one {@link IdempotencyContext}; an error page after the release has none.
 */
abstract class HandlerRun {

	private static final String ATTRIBUTE = HandlerRun.class.getName();

	private static final Logger logger = LoggerFactory.getLogger(HandlerRun.class);

	private final IdempotencyContext context;

	private final @Nullable Handler handler;

	private volatile @Nullable BufferedResponse response;

	private volatile boolean called;

	private volatile boolean watched;

	private volatile boolean entered;

	private volatile boolean inHandler;

	private volatile boolean handlerFailed;

	private volatile boolean callReturned;

	private volatile boolean handlingFailed;

	private volatile @Nullable Exception disconnect;

	/**
	 * Creates a run.
	 * @param context the context of the acquired claim
	 * @param handler the handler method, or {@code null} if it is not a method
	 */
	HandlerRun(IdempotencyContext context, @Nullable Handler handler) {
		this.context = context;
		this.handler = handler;
	}

	/**
	 * Finds the open run of the request that is being handled.
	 */
	static @Nullable HandlerRun of(RequestAttributes request) {
		return (HandlerRun) request.getAttribute(ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
	}

	/**
	 * Finds the run that an earlier dispatch of the request has left open.
	 */
	static @Nullable HandlerRun of(ServletRequest request) {
		return (HandlerRun) request.getAttribute(ATTRIBUTE);
	}

	/**
	 * Starts with the first dispatch.
	 */
	void begin(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		request.setAttribute(ATTRIBUTE, this);
		dispatch(request, response, chain);
	}

	/**
	 * Responds with 204 in place of the handler.
	 */
	void beginWithoutHandler(HttpServletRequest request, HttpServletResponse response)
			throws IOException, ServletException {
		begin(request, response, (handled, buffered) -> {
			answersWithoutHandler();
			((HttpServletResponse) buffered).setStatus(HttpServletResponse.SC_NO_CONTENT);
		});
	}

	/**
	 * Runs one dispatch in the context, and settles the key if the response is complete
	 * after it. Restores the context of the thread.
	 */
	void dispatch(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		IdempotencyContext outer = IdempotencyContext.bind(this.context);
		try {
			runBuffered(request, response, chain);
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	private void runBuffered(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request.getDispatcherType() == DispatcherType.FORWARD && !this.watched && isCallOpen()) {
			this.entered = true;
		}
		BufferedResponse buffered = WebUtils.getNativeResponse(response, BufferedResponse.class);
		if (buffered != null) {
			run(request, response, buffered, chain);
		}
		else {
			// The first dispatch, or an error dispatch with the container's own response.
			buffered = bufferResponse(request, response);
			BufferedResponse before = this.response;
			if (before != null) {
				buffered.takeOverHeaders(before);
			}
			this.response = buffered;
			run(wrapRequest(request, buffered), buffered, buffered, chain);
		}
	}

	/**
	 * Records that the library responds in place of the handler.
	 */
	void answersWithoutHandler() {
		this.entered = true;
		this.callReturned = true;
	}

	/**
	 * Returns whether this is the run of a handler.
	 */
	boolean isOf(HandlerMethod method) {
		return Handler.of(method).equals(this.handler);
	}

	/**
	 * Records that Spring MVC is about to call the handler.
	 */
	void handlerCalled(HandlerMethod method) {
		this.watched = isAdvised(method) && HandlerEntryAdvisor.isWatched(method.getBean(), method.getMethod());
		this.callReturned = false;
		this.called = true;
	}

	static boolean isAdvised(HandlerMethod method) {
		return HandlerEntryAdvisor.isAdvised(method.getBean(), method.getMethod());
	}

	/**
	 * Records that the call by Spring MVC has returned, possibly a value of advice.
	 */
	void callReturned() {
		this.callReturned = true;
		if (!this.watched) {
			this.entered = true;
		}
	}

	/**
	 * Returns whether the handler has been called and has neither returned nor thrown.
	 */
	boolean isCallOpen() {
		return this.watched ? this.inHandler : this.called && !this.callReturned && !this.handlingFailed;
	}

	/**
	 * Returns whether a call of a method is that by Spring MVC.
	 */
	boolean awaitsEntryInto(Method method) {
		Handler expected = this.handler;
		return this.called && !this.inHandler && expected != null
				&& expected.method().getName().equals(method.getName())
				&& AopUtils.getMostSpecificMethod(method, expected.type())
					.equals(AopUtils.getMostSpecificMethod(expected.method(), expected.type()));
	}

	/**
	 * Records that the handler method is entered.
	 */
	void handlerEntered() {
		this.entered = true;
		this.inHandler = true;
	}

	/**
	 * Records that the handler method has thrown an exception.
	 */
	void handlerFailed(Throwable failure) {
		this.handlerFailed = true;
	}

	/**
	 * Records that the handler method has returned or thrown.
	 */
	void handlerLeft() {
		this.inHandler = false;
	}

	/**
	 * Records what the handler method has returned.
	 * @return the value for Spring MVC
	 */
	@Nullable Object handlerReturned(Method method, @Nullable Object value) {
		return value;
	}

	/**
	 * Records that handling has failed, before the application turns the exception into a
	 * response.
	 */
	void handlingFailed(Exception failure) {
		this.handlingFailed = true;
		if (!this.watched && isThrownByHandler(failure)) {
			this.entered = true;
		}
		if (DisconnectedClientHelper.isClientDisconnectedException(failure)) {
			this.disconnect = failure;
		}
	}

	/**
	 * Of a handler without a proxy, only the stack trace shows whether the exception is
	 * its own or that of binding and validation.
	 */
	private boolean isThrownByHandler(Throwable failure) {
		Handler known = this.handler;
		for (Throwable each = failure; known != null && each != null; each = each.getCause()) {
			for (StackTraceElement frame : each.getStackTrace()) {
				if (frame.getMethodName().equals(known.method().getName())
						&& frame.getClassName().equals(known.method().getDeclaringClass().getName())) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Sends an error where Spring MVC leaves an empty 200: it mistakes any failure of a
	 * connection, even to a database, for a client that has disconnected.
	 */
	void sendErrorIfUnanswered(HttpServletRequest request, BufferedResponse response) throws IOException {
		Exception failure = this.disconnect;
		// Resolved by a resolver that is asked instead of all.
		boolean swallowed = this.handlerFailed && !this.callReturned && !this.handlingFailed;
		if ((failure != null || swallowed) && !request.isAsyncStarted() && response.isUntouched()) {
			logger.error("A handler has failed because a connection was lost", failure);
			response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
		}
		this.disconnect = null;
	}

	abstract BufferedResponse bufferResponse(HttpServletRequest request, HttpServletResponse response);

	abstract HttpServletRequest wrapRequest(HttpServletRequest request, BufferedResponse response);

	abstract void run(HttpServletRequest request, HttpServletResponse response, BufferedResponse buffered,
			FilterChain chain) throws IOException, ServletException;

	/**
	 * Settles the key of a request that has ended without an error page, if it is still
	 * open. An error that was sent is sent again on a replay, so that the filter that has
	 * handled it does so again.
	 */
	void requestEnded(HttpServletRequest request, int status) throws IOException {
		storeErrorAnsweredByFilter(request);
		if (isOpen(request)) {
			settleWithoutErrorPage(request, status);
		}
	}

	void storeErrorAnsweredByFilter(HttpServletRequest request) throws IOException {
		BufferedResponse buffered = this.response;
		if (isOpen(request) && buffered != null && buffered.isErrorSent()) {
			storeErrorAnsweredByFilter(request, buffered);
		}
	}

	/**
	 * Stores an error that a filter has handled instead of the container.
	 */
	abstract void storeErrorAnsweredByFilter(HttpServletRequest request, BufferedResponse response) throws IOException;

	/**
	 * Settles the key of a request whose error page did not, because another filter has
	 * handled the error or the error page has failed: the client received a different
	 * response than the one that was to be stored.
	 * @param request the request
	 * @param status the status of the error
	 */
	abstract void settleWithoutErrorPage(HttpServletRequest request, int status);

	/**
	 * Returns whether an error response of the handler with this status is stored.
	 */
	abstract boolean isStored(int status);

	/**
	 * Returns the response of the current dispatch, or {@code null} before the first one.
	 */
	@Nullable BufferedResponse response() {
		return this.response;
	}

	/**
	 * Returns whether the handler method was entered. Only advice can record it at once;
	 * a handler without advice was entered if its call has returned, has forwarded the
	 * request, or has thrown an exception of its own.
	 */
	boolean isEntered() {
		return this.entered || this.handler == null;
	}

	/**
	 * Returns whether the call by Spring MVC has returned normally, and nothing has
	 * failed since.
	 */
	boolean hasReturned() {
		return this.callReturned && !this.handlingFailed;
	}

	static boolean isOpen(ServletRequest request) {
		return of(request) != null;
	}

	static void close(ServletRequest request) {
		request.removeAttribute(ATTRIBUTE);
	}

}
