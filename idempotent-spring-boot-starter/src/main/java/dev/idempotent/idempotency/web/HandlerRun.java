package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import dev.idempotent.aop.WatchedCall;
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
import org.springframework.http.HttpStatusCode;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.FlashMap;
import org.springframework.web.servlet.ModelAndView;
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
	private static final Set<String> BEFORE_HANDLERS = Set.of("initModel", "getMethodArgumentValues",
			"applyArgumentValidation", "checkRequest");

	private static final Logger logger = LoggerFactory.getLogger(HandlerRun.class);

	/**
	 * The run whose handler is called on this thread. The request that Spring MVC has
	 * bound to it may have been replaced by other code.
	 */
	private static final ThreadLocal<@Nullable HandlerRun> CALLED = new ThreadLocal<>();

	/**
	 * The runs whose handler an adapter of the application calls, perhaps on another
	 * thread.
	 */
	private static final Set<HandlerRun> CALLED_BY_OTHERS = ConcurrentHashMap.newKeySet();

	private final IdempotencyContext context;

	private final @Nullable Handler handler;

	private volatile @Nullable BufferedResponse response;

	private volatile Phase phase = Phase.CLAIMED;

	/**
	 * The entry into the handler method, as observed by advice or else concluded from the
	 * call.
	 */
	private final WatchedCall entry = new WatchedCall();

	/**
	 * Whether advice observes the method.
	 */
	private volatile boolean watched;

	/**
	 * The status that the last handler has responded with: what other code makes of it,
	 * such as an interceptor before the target of a forward, is not its response.
	 */
	private volatile @Nullable Integer answer;

	private volatile @Nullable Exception disconnect;

	/**
	 * Whether a filter or an interceptor has started asynchronous processing before, and
	 * has not suspended the request: the handler cannot respond asynchronously then.
	 */
	private boolean asyncAround;

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
	 * Returns the run whose handler is called on this thread, or {@code null}.
	 */
	static @Nullable HandlerRun called() {
		return CALLED.get();
	}

	/**
	 * Binds the run whose handler is called to this thread.
	 * @param run the run, or {@code null} for none
	 * @return what was bound before
	 */
	static @Nullable HandlerRun bindCalled(@Nullable HandlerRun run) {
		HandlerRun before = CALLED.get();
		if (run != null) {
			CALLED.set(run);
		}
		else {
			CALLED.remove();
		}
		return before;
	}

	/**
	 * Records that an adapter calls the handler that is not known to do so on this
	 * thread.
	 */
	final void calledByOther() {
		CALLED_BY_OTHERS.add(this);
	}

	/**
	 * Returns whether such an adapter may be the caller of a method.
	 */
	static boolean mayBeCalledByOther(Method entered) {
		return !CALLED_BY_OTHERS.isEmpty() && CALLED_BY_OTHERS.stream()
			.anyMatch((run) -> run.entry.entries() == 0 && run.awaitsEntryInto(entered));
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
	 * Opens the run within the first dispatch of its request, whose thread has the
	 * context from now on.
	 * @return the context that the thread had before
	 */
	@Nullable IdempotencyContext open(HttpServletRequest request, BufferedResponse buffered) {
		request.setAttribute(ATTRIBUTE, this);
		this.asyncAround = request.isAsyncStarted();
		this.response = buffered;
		dispatchBegins(request);
		return IdempotencyContext.bind(this.context);
	}

	/**
	 * Runs a later dispatch in the context, and settles the key if the response is
	 * complete after it. Restores the context of the thread.
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
		if (request.getDispatcherType() == DispatcherType.FORWARD && !this.watched && isHandlerRunning()) {
			this.entry.enter();
		}
		BufferedResponse buffered = WebUtils.getNativeResponse(response, BufferedResponse.class);
		if (buffered != null) {
			run(request, response, buffered, chain);
		}
		else {
			// An error dispatch with the container's own response.
			buffered = bufferResponse(request, response);
			BufferedResponse before = this.response;
			if (before != null) {
				buffered.takeOverHeaders(before);
			}
			this.response = buffered;
			run(wrapRequest(request, buffered), buffered, buffered, chain);
		}
	}

	private void run(HttpServletRequest request, HttpServletResponse response, BufferedResponse buffered,
			FilterChain chain) throws IOException, ServletException {
		// In the error page for asynchronous work that has failed or timed out.
		boolean abandoned = request.isAsyncStarted();
		boolean returned = false;
		dispatchBegins(request);
		try {
			chain.doFilter(request, response);
			returned = true;
		}
		finally {
			dispatchEnds(request, buffered, returned, abandoned, request.getDispatcherType() == DispatcherType.FORWARD);
		}
	}

	/**
	 * Returns whether the handler responds asynchronously, and has not yet.
	 */
	final boolean isAsync(ServletRequest request) {
		return request.isAsyncStarted() && !this.asyncAround;
	}

	/**
	 * Begins a dispatch of the request.
	 */
	abstract void dispatchBegins(HttpServletRequest request);

	/**
	 * Ends a dispatch of the request, and settles the key if the response is complete.
	 * @param returned whether the dispatch has ended without an exception
	 * @param abandoned whether asynchronous work was left before it
	 * @param nested whether it is a part of another dispatch of the run
	 */
	abstract void dispatchEnds(HttpServletRequest request, BufferedResponse buffered, boolean returned,
			boolean abandoned, boolean nested) throws IOException, ServletException;

	/**
	 * The flash attributes, which the target of the redirect would have shown, such as
	 * "order placed".
	 */
	static void withdrawFlash(HttpServletRequest request) {
		FlashMap flash = (FlashMap) request.getAttribute(DispatcherServlet.OUTPUT_FLASH_MAP_ATTRIBUTE);
		if (flash != null) {
			flash.clear();
		}
	}

	/**
	 * Responds in place of the handler.
	 * @param answer the response, or {@code null} for 204
	 */
	void answerWithoutHandler(HttpServletRequest request, @Nullable CapturedResponse answer)
			throws IOException, ServletException {
		advance(Phase.RETURNED);
		concludeEntry(null);
		BufferedResponse buffered = Objects.requireNonNull(this.response);
		if (answer != null) {
			answer.sendTo(buffered);
		}
		else {
			buffered.setStatus(HttpServletResponse.SC_NO_CONTENT);
		}
		responseWritten(request);
	}

	/**
	 * Records that the call by Spring MVC has returned without a view to render: the
	 * response is complete, unless it is asynchronous.
	 * @throws ServletException if a commit has failed, or the unchecked exception with
	 * which it has: it counts as one of the handler
	 */
	void responseWritten(HttpServletRequest request) throws IOException, ServletException {
	}

	/**
	 * Records that Spring MVC has handled the request, and rendered its view.
	 * @param failure what it throws, or {@code null}
	 */
	void handlingCompleted(HttpServletRequest request, @Nullable Exception failure) {
	}

	/**
	 * Returns whether this is the run of a handler.
	 */
	boolean isOf(HandlerMethod method) {
		return Handler.of(method).equals(this.handler);
	}

	/**
	 * Records that Spring MVC is about to call the handler, which is not a method.
	 */
	final void handlerCalled() {
		advance(Phase.CALLED);
	}

	/**
	 * Records that Spring MVC is about to write the result of asynchronous work.
	 */
	final void resultHandled() {
		advance(Phase.RESULT);
	}

	/**
	 * Returns whether Spring MVC writes the result of asynchronous work in this dispatch,
	 * instead of calling the handler.
	 */
	static boolean isResultDispatched(HttpServletRequest request) {
		return WebAsyncUtils.getAsyncManager(request).hasConcurrentResult();
	}

	/**
	 * Records that Spring MVC is about to call the handler method.
	 * @param advised whether the call passes through advice
	 * @param entryWatched whether the last of that advice observes the method
	 */
	void handlerCalled(HandlerMethod handlerMethod, boolean advised, boolean entryWatched) {
		this.watched = entryWatched;
		advance(Phase.CALLED);
	}

	/**
	 * A failure is not undone by what follows it.
	 */
	private void advance(Phase next) {
		if (!isFailed() && this.phase != Phase.SETTLED) {
			this.phase = next;
		}
	}

	/**
	 * Records that the call by Spring MVC has returned, possibly a value of advice.
	 */
	void callReturned() {
		if (this.phase != Phase.RESULT) {
			advance(Phase.RETURNED);
		}
		if (!this.watched) {
			concludeEntry(null);
		}
	}

	/**
	 * Records the status that a handler of the run has responded with, unless it responds
	 * asynchronously.
	 * @param view the view to render, or {@code null} if the response is written
	 */
	void answered(HttpServletRequest request, HttpServletResponse response, @Nullable ModelAndView view) {
		HttpStatusCode status = (view != null) ? view.getStatus() : null;
		this.answer = isAsync(request) ? null
				: Integer.valueOf((status != null) ? status.value() : response.getStatus());
	}

	/**
	 * Returns the status that the last handler has responded with, or {@code null} if it
	 * has not.
	 */
	final @Nullable Integer answer() {
		return this.answer;
	}

	private void concludeEntry(@Nullable Throwable failure) {
		if (!this.entry.isInside()) {
			this.entry.enter();
		}
		this.entry.leave(failure);
	}

	/**
	 * Records that the call has returned from all its advice, before Spring MVC writes
	 * what it has returned.
	 */
	void callAnswered() {
		if (this.phase == Phase.CALLED) {
			this.phase = Phase.ANSWERED;
		}
	}

	/**
	 * Records that the call by Spring MVC has failed, perhaps while the response was
	 * written that the handler had returned. The failure of asynchronous work is one of
	 * the handler itself.
	 */
	void callFailed(Exception failure) {
		boolean lost = this.phase == Phase.ANSWERED || this.phase == Phase.RETURNED;
		handlingFailed(failure);
		if (lost && isOpen()) {
			this.phase = Phase.ANSWER_LOST;
		}
	}

	final boolean isFailed() {
		return this.phase == Phase.FAILED || this.phase == Phase.ANSWER_LOST;
	}

	/**
	 * Returns how far the run has come.
	 */
	final Phase phase() {
		return this.phase;
	}

	/**
	 * Returns whether the handler has been called and has neither returned nor thrown.
	 */
	boolean isHandlerRunning() {
		return this.watched ? this.entry.isInside() : this.phase == Phase.CALLED;
	}

	/**
	 * Returns whether a call of a method is that by Spring MVC.
	 */
	boolean awaitsEntryInto(Method entered) {
		Handler expected = this.handler;
		return this.phase != Phase.CLAIMED && !this.entry.isInside() && expected != null
				&& expected.method().getName().equals(entered.getName())
				&& AopUtils.getMostSpecificMethod(entered, expected.type())
					.equals(AopUtils.getMostSpecificMethod(expected.method(), expected.type()));
	}

	/**
	 * Records that the handler method is entered.
	 */
	void methodEntered() {
		this.entry.enter();
	}

	/**
	 * Records what the handler method has returned.
	 * @return the value for Spring MVC
	 */
	@Nullable Object methodReturned(Class<?> type, @Nullable Object value) {
		this.entry.leave(null);
		return value;
	}

	/**
	 * Records that the handler method has thrown an exception.
	 */
	void methodFailed(Throwable failure) {
		this.entry.leave(failure);
	}

	/**
	 * Returns the entry into the handler method. Only advice can record it at once; a
	 * handler without advice was entered if its call has returned, has forwarded the
	 * request, or has thrown an exception of its own.
	 */
	final WatchedCall entry() {
		return this.entry;
	}

	/**
	 * Returns whether the handler was entered.
	 */
	boolean isEntered() {
		return this.handler == null || this.entry.entries() > 0;
	}

	/**
	 * Records that handling has failed, before the application turns the exception into a
	 * response.
	 */
	void handlingFailed(Exception failure) {
		if (!this.watched
				&& (this.phase == Phase.ANSWERED || (this.phase == Phase.CALLED && isThrownByHandler(failure)))) {
			concludeEntry(failure);
		}
		advance(Phase.FAILED);
		if (DisconnectedClientHelper.isClientDisconnectedException(failure)) {
			this.disconnect = failure;
		}
	}

	/**
	 * If the handler has no proxy, only the stack trace shows that an exception comes
	 * from binding, validation or an interceptor. Without that proof, the exception
	 * counts as thrown by the handler.
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
		if (failure != null && !isAsync(request) && response.isUntouched()) {
			logger.error("A handler has failed because a connection was lost", failure);
			response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
		}
		this.disconnect = null;
	}

	abstract BufferedResponse bufferResponse(HttpServletRequest request, HttpServletResponse response);

	abstract HttpServletRequest wrapRequest(HttpServletRequest request, BufferedResponse response);

	/**
	 * Settles the key of a request that has ended without an error page, if it is still
	 * open. An error that was sent is sent again on a replay, so that the filter that has
	 * handled it does so again.
	 */
	void requestEnded(HttpServletRequest request, int status) throws IOException {
		storeErrorAnsweredByFilter(request);
		if (isOpen()) {
			settleWithoutErrorPage(request, status);
		}
	}

	void storeErrorAnsweredByFilter(HttpServletRequest request) throws IOException {
		BufferedResponse buffered = this.response;
		if (isOpen() && buffered != null && buffered.isErrorSent()) {
			storeErrorAnsweredByFilter(request, buffered);
		}
	}

	/**
	 * Stores an error that a filter has handled instead of the container.
	 */
	abstract void storeErrorAnsweredByFilter(HttpServletRequest request, BufferedResponse response) throws IOException;

	/**
	 * Settles the key of a request whose error page did not, because another filter has
	 * handled the error or the error page has failed: the client received another
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

	final boolean isOpen() {
		return this.phase != Phase.SETTLED;
	}

	/**
	 * Ends the run: the key is completed or released, or stays claimed until its lease
	 * expires.
	 */
	final void close(ServletRequest request) {
		this.phase = Phase.SETTLED;
		CALLED_BY_OTHERS.remove(this);
		request.removeAttribute(ATTRIBUTE);
	}

	/**
	 * How far a run has come, as Spring MVC tells it.
	 */
	enum Phase {

		/**
		 * The key is claimed.
		 */
		CLAIMED,

		/**
		 * Spring MVC has called the handler: resolves its arguments, runs its method, or
		 * writes what it has returned.
		 */
		CALLED,

		/**
		 * The method and all advice of the application have returned, and Spring MVC
		 * writes what they have returned. Only advice can record it.
		 */
		ANSWERED,

		/**
		 * The call has returned normally: a view may have to be rendered, or an
		 * asynchronous result to be awaited.
		 */
		RETURNED,

		/**
		 * Spring MVC writes the result of asynchronous work, or has written it.
		 */
		RESULT,

		/**
		 * Handling has failed, and the application may turn the exception into a
		 * response.
		 */
		FAILED,

		/**
		 * Handling has failed behind the handler, which has returned normally: another
		 * response than the handler's is written.
		 */
		ANSWER_LOST,

		/**
		 * The key is completed or released, or stays claimed until its lease expires.
		 */
		SETTLED

	}

}
