package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;

import dev.idempotent.idempotency.IdempotencyContext;
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

	/**
	 * The methods of Spring MVC around what runs before the handler.
	 */
	private static final Set<String> BEFORE_HANDLERS = Set.of("applyPreHandle", "initModel", "getMethodArgumentValues",
			"applyArgumentValidation", "checkRequest");

	private static final Logger logger = LoggerFactory.getLogger(HandlerRun.class);

	private final IdempotencyContext context;

	private final @Nullable Handler handler;

	private volatile @Nullable BufferedResponse response;

	/**
	 * The call of the handler by Spring MVC. Stays failed once handling has failed.
	 */
	private volatile Progress call = Progress.NONE;

	/**
	 * The handler method itself, as observed by advice or else concluded from the call.
	 */
	private volatile Progress method = Progress.NONE;

	/**
	 * Whether advice observes the method.
	 */
	private volatile boolean watched;

	/**
	 * Whether the call, with all its advice, has returned a response to write.
	 */
	private volatile boolean answered;

	/**
	 * Whether that response could not be written.
	 */
	private volatile boolean answerLost;

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
	 * Gives up the key of a run that has not begun.
	 */
	abstract void abandon();

	/**
	 * Returns whether the handler runs in a transaction of its key.
	 */
	abstract boolean isInTransaction();

	/**
	 * Starts with the first dispatch.
	 */
	void begin(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		request.setAttribute(ATTRIBUTE, this);
		dispatch(request, response, chain);
	}

	/**
	 * Responds in place of the handler.
	 * @param answer the response, or {@code null} for 204
	 */
	void beginWithoutHandler(HttpServletRequest request, HttpServletResponse response,
			@Nullable CapturedResponse answer) throws IOException, ServletException {
		begin(request, response, (handled, buffered) -> {
			this.call = Progress.RETURNED;
			this.method = Progress.RETURNED;
			if (answer != null) {
				answer.sendTo((HttpServletResponse) buffered);
			}
			else {
				((HttpServletResponse) buffered).setStatus(HttpServletResponse.SC_NO_CONTENT);
			}
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
			this.method = Progress.OPEN;
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
	 * Returns whether this is the run of a handler.
	 */
	boolean isOf(HandlerMethod method) {
		return Handler.of(method).equals(this.handler);
	}

	/**
	 * Records that Spring MVC is about to call the handler.
	 * @param advised whether the call passes through advice
	 * @param entryWatched whether the last of that advice observes the method
	 */
	void handlerCalled(HandlerMethod handlerMethod, boolean advised, boolean entryWatched) {
		this.watched = entryWatched;
		this.answered = false;
		this.call = (this.call != Progress.FAILED) ? Progress.OPEN : Progress.FAILED;
	}

	/**
	 * Records that the call by Spring MVC has returned, possibly a value of advice.
	 */
	void callReturned() {
		this.call = (this.call != Progress.FAILED) ? Progress.RETURNED : Progress.FAILED;
		if (!this.watched) {
			this.method = Progress.RETURNED;
		}
	}

	/**
	 * Records that the call has returned from all its advice, before Spring MVC writes
	 * what it has returned.
	 */
	void callAnswered() {
		this.answered = true;
	}

	/**
	 * Records that the handling of the call has failed, if it has returned while its
	 * response was written.
	 */
	void writingFailed() {
		this.answerLost = this.answered;
	}

	/**
	 * Returns whether the handler and its advice have returned normally, and another
	 * response than theirs was written, because handling has failed then.
	 */
	boolean isAnswerLost() {
		return this.answerLost;
	}

	/**
	 * Returns whether Spring MVC has called the handler.
	 */
	boolean isCalled() {
		return this.call != Progress.NONE;
	}

	/**
	 * Returns whether Spring MVC has called the handler, or it is not a method: otherwise
	 * the mappings have found another one for the dispatcher servlet than for the filter.
	 */
	boolean isBegun() {
		return isCalled() || this.handler == null;
	}

	/**
	 * Returns whether the handler has been called and has neither returned nor thrown.
	 */
	boolean isCallOpen() {
		return (this.watched ? this.method : this.call) == Progress.OPEN;
	}

	/**
	 * Returns whether the call by Spring MVC has returned normally, and nothing has
	 * failed since.
	 */
	boolean isCallReturned() {
		return this.call == Progress.RETURNED;
	}

	/**
	 * Returns whether Spring MVC has told of a failure, which the application may have
	 * turned into a response.
	 */
	boolean isCallFailed() {
		return this.call == Progress.FAILED;
	}

	/**
	 * Returns whether a call of a method is that by Spring MVC.
	 */
	boolean awaitsEntryInto(Method entered) {
		Handler expected = this.handler;
		return isCalled() && this.method != Progress.OPEN && expected != null
				&& expected.method().getName().equals(entered.getName())
				&& AopUtils.getMostSpecificMethod(entered, expected.type())
					.equals(AopUtils.getMostSpecificMethod(expected.method(), expected.type()));
	}

	/**
	 * Records that the handler method is entered.
	 */
	void methodEntered() {
		this.method = Progress.OPEN;
	}

	/**
	 * Records what the handler method has returned.
	 * @return the value for Spring MVC
	 */
	@Nullable Object methodReturned(Class<?> type, @Nullable Object value) {
		if (this.method == Progress.OPEN) {
			this.method = Progress.RETURNED;
		}
		return value;
	}

	/**
	 * Records that the handler method has thrown an exception.
	 */
	void methodFailed(Throwable failure) {
		this.method = Progress.FAILED;
	}

	/**
	 * Returns whether the handler method was entered. Only advice can record it at once;
	 * a handler without advice was entered if its call has returned, has forwarded the
	 * request, or has thrown an exception of its own.
	 */
	boolean isEntered() {
		return this.method != Progress.NONE || this.handler == null;
	}

	/**
	 * Returns whether the last entry into the handler method has returned.
	 */
	boolean isMethodReturned() {
		return this.method == Progress.RETURNED;
	}

	/**
	 * Records that handling has failed, before the application turns the exception into a
	 * response.
	 */
	void handlingFailed(Exception failure) {
		this.call = Progress.FAILED;
		if (!this.watched && isThrownByHandler(failure)) {
			this.method = Progress.FAILED;
		}
		if (DisconnectedClientHelper.isClientDisconnectedException(failure)) {
			this.disconnect = failure;
		}
	}

	/**
	 * Of a handler without a proxy, only the stack trace shows that an exception is that
	 * of binding, validation or an interceptor. Without that proof, it is the handler's.
	 */
	private boolean isThrownByHandler(Throwable failure) {
		Handler known = this.handler;
		return known != null && (hasFrame(failure,
				(frame) -> frame.getMethodName().equals(known.method().getName())
						&& frame.getClassName().equals(known.method().getDeclaringClass().getName()))
				|| !hasFrame(failure, (frame) -> BEFORE_HANDLERS.contains(frame.getMethodName())
						&& frame.getClassName().startsWith("org.springframework.web.")));
	}

	private static boolean hasFrame(Throwable failure, Predicate<StackTraceElement> condition) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (Arrays.stream(each.getStackTrace()).anyMatch(condition)) {
				return true;
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
		// Happens if the application has replaced the resolvers that record failures.
		boolean swallowed = this.method == Progress.FAILED && this.call == Progress.OPEN;
		if ((failure != null || swallowed) && !request.isAsyncStarted() && response.isUntouched()) {
			logger.error((failure != null) ? "A handler has failed because a connection was lost"
					: "A handler has failed, and its exception was resolved without a response", failure);
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

	static boolean isOpen(ServletRequest request) {
		return of(request) != null;
	}

	static void close(ServletRequest request) {
		request.removeAttribute(ATTRIBUTE);
	}

	/**
	 * How far something has come that returns or throws.
	 */
	private enum Progress {

		NONE, OPEN, RETURNED, FAILED

	}

}
