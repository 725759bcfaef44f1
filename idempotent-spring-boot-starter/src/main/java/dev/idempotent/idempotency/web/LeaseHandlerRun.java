package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.Claimant;
import dev.idempotent.transaction.End;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.util.ContentCachingResponseWrapper;
import org.springframework.web.util.WebUtils;

/**
 * A run whose response is stored once it is complete, and may stream to the client
 * before.
 */
final class LeaseHandlerRun extends HandlerRun {

	private static final Logger logger = LoggerFactory.getLogger(LeaseHandlerRun.class);

	/**
	 * Set by Spring MVC for streaming handlers, to disable content caching.
	 * @see ShallowEtagHeaderFilter#disableContentCaching
	 */
	private static final String HANDLER_STREAMS = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

	private final Claimant claimant;

	private final ResponsePolicy policy;

	private final AsyncWork work = new AsyncWork();

	/**
	 * Whether an error page is expected, which may never be written.
	 */
	private volatile boolean failed;

	/**
	 * Whether the key remains claimed for work that continues after its request has
	 * ended.
	 */
	private volatile boolean outlived;

	/**
	 * The transactions around the handler, or {@code null} if there is none.
	 */
	private @Nullable SurroundingTransactions around;

	/**
	 * How those transactions had ended when the response was complete, if they had.
	 */
	private End end = End.COMMITTED;

	private int dispatches;

	private boolean completing;

	LeaseHandlerRun(Claimant claimant, @Nullable Handler handler, ResponsePolicy policy) {
		super(claimant.context(), handler);
		this.claimant = claimant;
		this.policy = policy;
	}

	@Override
	BufferedResponse bufferResponse(HttpServletRequest request, HttpServletResponse response) {
		return BufferedResponse.streaming(response, this.policy.maxStored(),
				() -> request.getAttribute(HANDLER_STREAMS) != null);
	}

	@Override
	HttpServletRequest wrapRequest(HttpServletRequest request, BufferedResponse response) {
		AsyncListener listener = new AsyncListener() {

			@Override
			public void onComplete(AsyncEvent event) throws IOException {
				asyncCompleted(request, response);
			}

			@Override
			public void onTimeout(AsyncEvent event) {
				LeaseHandlerRun.this.work.timeOut();
			}

			@Override
			public void onError(AsyncEvent event) {
				asyncFailed(request, response);
			}

			@Override
			public void onStartAsync(AsyncEvent event) {
				// The request that restarts it registers another listener.
			}

		};
		return this.work.wrap(request, response, listener, () -> asyncCompleting(request, response));
	}

	@Override
	@Nullable Object methodReturned(Class<?> type, @Nullable Object value) {
		return this.work.returned(type, super.methodReturned(type, value));
	}

	@Override
	boolean isInTransaction() {
		return false;
	}

	@Override
	void abandon() {
		this.claimant.release();
	}

	@Override
	@Nullable IdempotencyContext open(HttpServletRequest request, BufferedResponse buffered) {
		this.around = SurroundingTransactions.join();
		return super.open(request, buffered);
	}

	@Override
	synchronized void dispatchBegins(HttpServletRequest request) {
		this.dispatches++;
	}

	@Override
	void dispatchEnds(HttpServletRequest request, BufferedResponse buffered, boolean returned, boolean abandoned,
			boolean nested) throws IOException {
		boolean completed = dispatchEnds();
		if (!returned) {
			if (!nested) {
				fail(request);
			}
		}
		else if (isOpen() && (completed || abandoned || !isAsync(request))) {
			sendErrorIfUnanswered(request, buffered);
			settle(request, buffered, false);
		}
	}

	/**
	 * Returns whether asynchronous work has completed the response during the dispatch,
	 * which then settles it.
	 */
	private synchronized boolean dispatchEnds() {
		this.dispatches--;
		return this.completing;
	}

	private synchronized boolean isSettledByDispatch() {
		this.completing = this.dispatches > 0;
		return this.completing;
	}

	/**
	 * Called before the container ends the response.
	 */
	private void asyncCompleting(HttpServletRequest request, BufferedResponse response) {
		if (this.outlived) {
			this.work.ended(null);
		}
		else if (!isSettledByDispatch()) {
			try {
				asyncCompleted(request, response);
			}
			catch (IOException ex) {
				logger.debug("The client disconnected before its response was sent", ex);
			}
		}
	}

	private void asyncCompleted(HttpServletRequest request, BufferedResponse response) throws IOException {
		boolean errorPageDue = response.isErrorSent() && IdempotencyErrorFilter.isErrorSent(response);
		if (isOpen() && !this.failed && !errorPageDue) {
			settle(request, response, true);
			storeErrorAnsweredByFilter(request);
		}
	}

	/**
	 * The client has stopped reading a stream, or the container sends an error page,
	 * which may come after everything else has ended.
	 */
	private void asyncFailed(HttpServletRequest request, BufferedResponse response) {
		if (isOpen() && response.isStreaming()) {
			complete(request, StoredResponse.notKept());
		}
		else {
			awaitErrorPage();
		}
	}

	/**
	 * Settles the key of a response that is complete, and sends the response.
	 * @param chainReturned whether the filters have returned: one that keeps the body
	 * until then, to send it with an ETag, must let it pass
	 */
	private void settle(HttpServletRequest request, BufferedResponse response, boolean chainReturned)
			throws IOException {
		if (isEntered() && isAnswerReplaced(response.getStatus())) {
			complete(request, StoredResponse.notKept());
		}
		else if (!isEntered() || !this.policy.isStored(response.getStatus())) {
			release(request);
		}
		else if (response.isErrorSent()) {
			this.claimant.stopRenewal();
			return;
		}
		else {
			complete(request, response);
			if (refusesUndone(request, response)) {
				return;
			}
		}
		if (chainReturned && WebUtils.getNativeResponse(response, ContentCachingResponseWrapper.class) != null) {
			ShallowEtagHeaderFilter.disableContentCaching(request);
		}
		response.sendBuffered();
	}

	/**
	 * Replaces a success that was not committed, or may not have been. A response that
	 * reports a failure stays true.
	 */
	private boolean refusesUndone(HttpServletRequest request, BufferedResponse response) throws IOException {
		if (this.end == End.COMMITTED) {
			return false;
		}
		logger.warn("The response to a {} request under Guarantee.LEASE is not stored: the transaction in which other "
				+ "code has called the handler ended as {}", request.getMethod(), this.end);
		if (reportsFailure(response) || response.getResponse().isCommitted()) {
			return false;
		}
		withdrawFlash(request);
		ResponseWriter writer = ResponseWriter.inPlaceOf(response, request, this.policy.problems());
		if (this.end == End.ROLLED_BACK) {
			writer.refuse(Problem.ROLLED_BACK);
		}
		else {
			writer.refuse(Problem.OUTCOME_UNKNOWN
				.refusal("It is not known whether the work was done: the outcome of the transaction around it is "
						+ "unknown."));
		}
		return true;
	}

	/**
	 * Returns whether the handlers have responded with a status that is stored, or
	 * forward the request while they run, and other code, such as an interceptor before
	 * the target of the forward, has asked for the same request again instead: it would
	 * do their work twice.
	 */
	private boolean isAnswerReplaced(int status) {
		if (isFailed() || status >= HttpServletResponse.SC_INTERNAL_SERVER_ERROR || this.policy.isStored(status)) {
			return false;
		}
		Integer answer = answer();
		return (answer != null) ? this.policy.isStored(answer) : isHandlerRunning();
	}

	/**
	 * An exception leaves the application: its error page is yet to be written.
	 */
	private void fail(ServletRequest request) {
		if (isEntered() && this.policy.keepsErrors()) {
			awaitErrorPage();
		}
		else {
			release(request);
		}
	}

	@Override
	boolean isStored(int status) {
		return isEntered() && this.policy.isStored(status);
	}

	@Override
	void storeErrorAnsweredByFilter(HttpServletRequest request, BufferedResponse response) {
		complete(request, response);
	}

	@Override
	void settleWithoutErrorPage(HttpServletRequest request, int status) {
		boolean error = this.failed || status >= HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
		if (error && isEntered() && this.policy.keepsErrors()) {
			complete(request, StoredResponse.notKept());
		}
		else {
			release(request);
		}
	}

	private void awaitErrorPage() {
		this.failed = true;
		if (!this.work.isTimedOut()) {
			this.claimant.stopRenewal();
		}
	}

	private void complete(HttpServletRequest request, BufferedResponse response) {
		CapturedResponse captured = response.capture();
		// A retry would get an error for work that was done, although it may accept the
		// response.
		boolean notKept = response.isStreaming() || phase() == Phase.ANSWER_LOST;
		StoredResponse toStore = notKept ? StoredResponse.notKept() : this.policy.toStore(request, captured);
		if (toStore.isKept() && reportsFailure(response)) {
			this.claimant.complete(toStore);
			close(request);
		}
		else {
			complete(request, toStore);
		}
	}

	/**
	 * Returns whether a response is true whether or not its work was committed.
	 */
	private static boolean reportsFailure(BufferedResponse response) {
		return response.getStatus() >= HttpServletResponse.SC_BAD_REQUEST;
	}

	/**
	 * Completes the key, once the transactions around the handler have committed.
	 */
	private void complete(ServletRequest request, StoredResponse response) {
		End known = (this.around != null) ? this.around.endOrLater((later) -> complete(later, response))
				: End.COMMITTED;
		if (known != null) {
			this.end = known;
			complete(known, response);
		}
		close(request);
	}

	private void complete(End transactions, StoredResponse response) {
		switch (transactions) {
			case COMMITTED -> this.claimant.complete(response);
			case ROLLED_BACK -> this.claimant.release();
			case UNKNOWN -> this.claimant.settleUnknown();
		}
	}

	private void release(ServletRequest request) {
		if (this.work.isTimedOut()) {
			this.outlived = true;
			this.work.onEnd(this::settleOutlived);
		}
		else if (isResultLost(request)) {
			this.claimant.complete(StoredResponse.notKept());
		}
		else {
			this.claimant.release();
		}
		close(request);
	}

	/**
	 * Returns whether the asynchronous work was done, and an interceptor or a filter has
	 * responded in place of its result.
	 */
	private boolean isResultLost(ServletRequest request) {
		WebAsyncManager manager = WebAsyncUtils.getAsyncManager(request);
		return manager.hasConcurrentResult() && (phase() == Phase.RETURNED || phase() == Phase.ANSWER_LOST)
				&& isStored(manager.getConcurrentResult());
	}

	/**
	 * The client already has the response to the time-out, and the response that it would
	 * have received instead was never written.
	 */
	private void settleOutlived(@Nullable Object result) {
		if (isStored(result)) {
			this.claimant.complete(StoredResponse.notKept());
		}
		else {
			this.claimant.release();
		}
	}

	private boolean isStored(@Nullable Object result) {
		if (result instanceof ResponseEntity<?> answer) {
			return this.policy.isStored(answer.getStatusCode().value());
		}
		return !(result instanceof Throwable) || this.policy.keepsErrors();
	}

}
