package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;

import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.WebAsyncUtils;
import org.springframework.web.filter.ShallowEtagHeaderFilter;

/**
 * A run whose answer is stored when it is whole, and streams meanwhile if it has to.
 */
final class LeaseHandlerRun extends HandlerRun {

	/**
	 * What Spring MVC sets for such handlers, so that nobody caches their content.
	 * @see ShallowEtagHeaderFilter#disableContentCaching
	 */
	private static final String HANDLER_STREAMS = ShallowEtagHeaderFilter.class.getName() + ".STREAMING";

	private final Claimant claimant;

	private final ResponsePolicy policy;

	/**
	 * An error page is due, which may never come.
	 */
	private volatile boolean failed;

	private final AsyncWork work = new AsyncWork();

	/**
	 * The key is left to work that goes on after its request has ended.
	 */
	private volatile boolean outlived;

	private int dispatches;

	private boolean completing;

	LeaseHandlerRun(Claimant claimant, boolean entryIsNoted, ResponsePolicy policy) {
		super(claimant.context(), entryIsNoted);
		this.claimant = claimant;
		this.policy = policy;
	}

	@Override
	BufferedResponse hold(HttpServletRequest request, HttpServletResponse response) {
		return BufferedResponse.streaming(response, this.policy.maxBody(),
				() -> request.getAttribute(HANDLER_STREAMS) != null);
	}

	@Override
	HttpServletRequest hold(HttpServletRequest request, BufferedResponse response) {
		WebAsyncUtils.getAsyncManager(request).registerCallableInterceptor(AsyncWork.class, this.work);
		return new AsyncInterceptingRequest(request, response, this);
	}

	@Override
	@Nullable Object handlerReturned(Method method, @Nullable Object value) {
		return this.work.returned(method.getReturnType(), value);
	}

	@Override
	void run(HttpServletRequest request, HttpServletResponse response, BufferedResponse holding, FilterChain chain)
			throws IOException, ServletException {
		// In the error page for asynchronous work that the container has given up.
		boolean abandoned = request.isAsyncStarted();
		boolean returned = false;
		boolean completed;
		dispatchBegins();
		try {
			chain.doFilter(request, response);
			returned = true;
		}
		finally {
			completed = dispatchEnds();
			if (!returned && request.getDispatcherType() != DispatcherType.FORWARD) {
				fail(request);
			}
		}
		if (isOpen(request) && (completed || abandoned || !request.isAsyncStarted())) {
			answerWhatNobodyDid(request, holding);
			settle(request, holding);
		}
	}

	private synchronized void dispatchBegins() {
		this.dispatches++;
	}

	/**
	 * Returns whether asynchronous work has completed the answer during the dispatch,
	 * which is to settle it then.
	 */
	private synchronized boolean dispatchEnds() {
		this.dispatches--;
		return this.completing;
	}

	private synchronized boolean isLeftToADispatch() {
		this.completing = this.dispatches > 0;
		return this.completing;
	}

	/**
	 * Asynchronous work completes the answer, which the container has yet to end.
	 */
	void asyncCompleting(HttpServletRequest request, BufferedResponse response) throws IOException {
		if (this.outlived) {
			this.work.ended(null);
		}
		else if (!isLeftToADispatch()) {
			asyncCompleted(request, response);
		}
	}

	/**
	 * Asynchronous work has ended without another dispatch.
	 */
	void asyncCompleted(HttpServletRequest request, BufferedResponse response) throws IOException {
		if (isOpen(request) && !this.failed && !response.isErrorPageDue()) {
			settle(request, response);
			errorAnswered(request);
		}
	}

	/**
	 * The request is about to end, though its asynchronous work may go on.
	 */
	void asyncTimedOut() {
		this.work.timeOut();
	}

	/**
	 * Asynchronous work was given up by the container: because nobody reads its stream,
	 * or with an error page that may come after everything else has ended.
	 */
	void asyncFailed(HttpServletRequest request, BufferedResponse response) {
		if (isOpen(request) && response.isStreaming()) {
			complete(request, StoredResponse.notKept());
		}
		else {
			awaitErrorPage();
		}
	}

	private void settle(HttpServletRequest request, BufferedResponse response) throws IOException {
		if (!isEntered() || !this.policy.isStored(response.getStatus())) {
			free(request);
		}
		else if (response.isErrorSent()) {
			this.claimant.stopRenewal();
			return;
		}
		else {
			store(request, response);
		}
		response.sendHeld();
	}

	private void store(HttpServletRequest request, BufferedResponse response) {
		CapturedResponse captured = response.capture();
		complete(request, response.isStreaming() ? StoredResponse.notKept() : captured.encode());
	}

	/**
	 * An exception leaves the application: its error page is yet to be written.
	 */
	private void fail(ServletRequest request) {
		if (isEntered() && this.policy.keepsErrors()) {
			awaitErrorPage();
		}
		else {
			free(request);
		}
	}

	@Override
	void errorAnswered(HttpServletRequest request, BufferedResponse holding) {
		store(request, holding);
	}

	@Override
	void errorPageMissed(HttpServletRequest request, int status) {
		boolean error = this.failed || status >= HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
		if (error && isEntered() && this.policy.keepsErrors()) {
			complete(request, StoredResponse.notKept());
		}
		else {
			free(request);
		}
	}

	private void awaitErrorPage() {
		this.failed = true;
		if (!this.work.isTimedOut()) {
			this.claimant.stopRenewal();
		}
	}

	private void complete(ServletRequest request, StoredResponse response) {
		this.claimant.complete(response);
		close(request);
	}

	private void free(ServletRequest request) {
		if (this.work.isTimedOut()) {
			this.outlived = true;
			this.work.onEnd(this::settleLate);
		}
		else {
			this.claimant.release();
		}
		close(request);
	}

	/**
	 * The client has been told of the time-out, and nobody can write what it would have
	 * been told instead.
	 */
	private void settleLate(@Nullable Object result) {
		if (isDone(result)) {
			this.claimant.complete(StoredResponse.notKept());
		}
		else {
			this.claimant.release();
		}
	}

	private boolean isDone(@Nullable Object result) {
		if (result instanceof ResponseEntity<?> answer) {
			return this.policy.isStored(answer.getStatusCode().value());
		}
		return !(result instanceof Throwable) || this.policy.keepsErrors();
	}

}
