package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.idempotency.engine.TransactionalClaimant;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.ModelAndView;

/**
 * A run whose response commits with its work. The first dispatch runs the handler and
 * ends the transaction; an error dispatch may then write the response to work that was
 * rolled back.
 */
final class TransactionalHandlerRun extends HandlerRun {

	private final TransactionalClaimant claimant;

	private final ResponsePolicy policy;

	/**
	 * Resolves failed commits; called on first use.
	 */
	private final Supplier<HandlerExceptionResolver> exceptionResolver;

	private final @Nullable CorsConfiguration cors;

	private final Thread thread = Thread.currentThread();

	private @Nullable Throwable failure;

	/**
	 * Whether the method was called where it must not run.
	 */
	private volatile boolean entryRefused;

	private boolean rolledBack;

	TransactionalHandlerRun(TransactionalClaimant claimant, @Nullable Handler handler, ResponsePolicy policy,
			Supplier<HandlerExceptionResolver> exceptionResolver, @Nullable CorsConfiguration cors) {
		super(claimant.context(), handler);
		this.claimant = claimant;
		this.policy = policy;
		this.exceptionResolver = exceptionResolver;
		this.cors = cors;
	}

	@Override
	void abandon() {
		this.claimant.rollback();
		this.claimant.release();
	}

	@Override
	boolean isInTransaction() {
		return true;
	}

	/**
	 * Each call has a transaction of its own.
	 */
	@Override
	void handlerCalled(HandlerMethod method, boolean advised, boolean entryWatched) {
		if (isCalled()) {
			throw refused(method + " was called a second time in one transaction, by a forward or an include.", null);
		}
		if (advised && !entryWatched) {
			throw refused(method + " has advice that could hide its failures: its proxy is frozen or opaque, or "
					+ "other advice was added last.", null);
		}
		super.handlerCalled(method, advised, entryWatched);
	}

	/**
	 * The work of an attempt that has failed cannot be undone without the transaction.
	 */
	@Override
	void methodEntered() {
		if (Thread.currentThread() != this.thread) {
			this.entryRefused = true;
			throw refused("The handler was called on another thread, which does not have its transaction.", null);
		}
		if (isEntered()) {
			this.entryRefused = true;
			throw refused("The handler was called a second time in one transaction, by advice such as @Retryable.",
					this.failure);
		}
		super.methodEntered();
		BufferedResponse response = response();
		if (response != null) {
			response.markStart();
		}
	}

	private static IllegalStateException refused(String reason, @Nullable Throwable cause) {
		return new IllegalStateException(reason + " Under Guarantee.TRANSACTION, it runs once in each transaction, on "
				+ "the thread of its request. Let the client send a failed request again, or move the advice to "
				+ "a service with transactions of its own, or use Guarantee.LEASE.", cause);
	}

	@Override
	void methodFailed(Throwable ex) {
		super.methodFailed(ex);
		this.failure = ex;
		withdrawRedirect();
	}

	@Override
	void handlingFailed(Exception ex) {
		super.handlingFailed(ex);
		withdrawRedirect();
	}

	/**
	 * The work behind the redirect will be rolled back.
	 */
	private void withdrawRedirect() {
		BufferedResponse response = response();
		if (response != null) {
			response.withdrawRedirect();
		}
	}

	@Override
	BufferedResponse bufferResponse(HttpServletRequest request, HttpServletResponse response) {
		return BufferedResponse.withoutStreaming(response, this.policy.maxBuffered());
	}

	@Override
	HttpServletRequest wrapRequest(HttpServletRequest request, BufferedResponse response) {
		return new HttpServletRequestWrapper(request) {

			@Override
			public AsyncContext startAsync() {
				throw new IllegalStateException("A handler under Guarantee.TRANSACTION cannot respond asynchronously: "
						+ "its transaction is bound to the thread. Respond before the method returns, or use "
						+ "Guarantee.LEASE.");
			}

			@Override
			public AsyncContext startAsync(ServletRequest asyncRequest, ServletResponse asyncResponse) {
				return startAsync();
			}

		};
	}

	@Override
	void run(HttpServletRequest request, HttpServletResponse response, BufferedResponse buffered, FilterChain chain)
			throws IOException, ServletException {
		boolean forwarded = request.getDispatcherType() == DispatcherType.FORWARD;
		if (forwarded && isCallOpen()) {
			// The container ends the response after a forward, before the commit.
			throw new IllegalStateException("A handler under Guarantee.TRANSACTION forwarded its request before it "
					+ "returned. Return the name of a view, such as \"forward:/path\", or use Guarantee.LEASE.");
		}
		boolean settled = false;
		try {
			chain.doFilter(request, response);
			if (isOpen(request)) {
				sendErrorIfUnanswered(request, buffered);
				settle(request, buffered);
			}
			settled = true;
		}
		finally {
			if (!settled && !forwarded && isOpen(request)) {
				this.claimant.rollback();
				release(request);
			}
		}
	}

	private void settle(HttpServletRequest request, BufferedResponse buffered) throws IOException, ServletException {
		boolean returned = isCallReturned() && !this.rolledBack && !buffered.isErrorSent();
		if (returned && commits(buffered)) {
			commit(request, buffered);
			return;
		}
		boolean success = isSuccess(returned, buffered.getStatus());
		this.claimant.rollback();
		this.rolledBack = true;
		if (buffered.isTooLong()) {
			release(request);
			respondInstead(request, buffered).refuse(Problem.RESPONSE_TOO_LARGE
				.refusal("Nothing was done: the response is longer than " + this.policy.maxBuffered()
						+ " bytes, the most that is buffered until its transaction has committed "
						+ "(idempotent.web.max-buffered-response)."));
		}
		else if (success) {
			release(request);
			respondInstead(request, buffered).refuse(Problem.ROLLED_BACK);
		}
		else {
			answerRolledBack(request, buffered);
		}
	}

	/**
	 * Returns whether the response claims work that is rolled back. Without the handler,
	 * such as in an interceptor, a redirect does not, and neither does what the
	 * application makes of an exception.
	 */
	private boolean isSuccess(boolean returned, int status) {
		return returned ? status < HttpServletResponse.SC_BAD_REQUEST
				: status < HttpServletResponse.SC_MULTIPLE_CHOICES && !this.rolledBack && !isCallFailed();
	}

	private boolean commits(BufferedResponse buffered) {
		return isCallReturned() && isMethodReturned() && !this.entryRefused && !buffered.isTooLong()
				&& !this.claimant.isRollbackOnly() && this.policy.isCommitted(buffered.getStatus());
	}

	private void commit(HttpServletRequest request, BufferedResponse buffered) throws IOException, ServletException {
		StoredResponse toStore = this.policy.toStore(request, buffered.capture());
		try {
			StoredResponse stored = this.claimant.commitAndComplete(toStore);
			close(request);
			if (stored == null || (stored.isKept() && stored.equals(toStore))) {
				buffered.sendBuffered();
			}
			else {
				respondInstead(request, buffered).replay(stored);
			}
		}
		catch (WorkRolledBackException ex) {
			this.rolledBack = true;
			if (ex.getCause() instanceof IdempotencyClaimLostException lost) {
				release(request);
				respondInstead(request, buffered).refuse(lost);
				return;
			}
			buffered.restoreStart(request);
			handlingFailed(resolve(request, buffered, ex.getCause()));
			sendErrorIfUnanswered(request, buffered);
			answerRolledBack(request, buffered);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			close(request);
			respondInstead(request, buffered).refuseOutcomeUnknown(ex);
		}
	}

	/**
	 * Lets the exception handlers of the application resolve the failure of a commit,
	 * such as a violated constraint, as if the handler had thrown it.
	 * @return the exception that was resolved
	 * @throws ServletException if no exception handler of the application resolves the
	 * failure
	 */
	private Exception resolve(HttpServletRequest request, HttpServletResponse response, @Nullable Throwable cause)
			throws ServletException {
		request.removeAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE);
		Object handler = request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		if (handler instanceof HandlerMethod method) {
			// It may have a bean name, and the handlers of exceptions are called on the
			// bean.
			handler = method.createWithResolvedBean();
		}
		Exception exception = (cause instanceof Exception ex) ? ex
				: new ServletException("Committing the work of a handler has failed", cause);
		ModelAndView answer = this.exceptionResolver.get().resolveException(request, response, handler, exception);
		if (answer != null && answer.isEmpty()) {
			return exception;
		}
		if (exception instanceof RuntimeException unresolved) {
			throw unresolved;
		}
		throw (exception instanceof ServletException unresolved) ? unresolved
				: new ServletException("Committing the work of a handler has failed", exception);
	}

	/**
	 * Sends the application's response to work that was rolled back. A response with a
	 * status from 400 on is stored first: a key never has two responses.
	 */
	private void answerRolledBack(HttpServletRequest request, BufferedResponse buffered) throws IOException {
		int status = buffered.getStatus();
		if (!isEntered() || status < HttpServletResponse.SC_BAD_REQUEST || !this.policy.isCommitted(status)) {
			release(request);
			buffered.sendBuffered();
		}
		else if (buffered.isErrorSent()) {
			this.claimant.stopRenewal();
		}
		else {
			completeAfterRollback(request, buffered);
		}
	}

	private void completeAfterRollback(HttpServletRequest request, BufferedResponse buffered) throws IOException {
		StoredResponse toStore = this.policy.toStoreAfterRollback(request, buffered.capture());
		try {
			Claim claim = this.claimant.completeAfterRollback(toStore);
			close(request);
			if (claim instanceof Claim.Completed completed && completed.response().equals(toStore)) {
				buffered.sendBuffered();
			}
			else if (claim instanceof Claim.Completed completed) {
				respondInstead(request, buffered).replay(completed.response());
			}
			else if (claim.isPending()) {
				respondInstead(request, buffered).refuse(Problem.IN_PROGRESS);
			}
			else if (claim instanceof Claim.Mismatched) {
				respondInstead(request, buffered).refuse(Problem.KEY_REUSED);
			}
			else {
				throw new IllegalStateException("The key is still claimed after its response was stored");
			}
		}
		catch (WorkRolledBackException ex) {
			release(request);
			respondInstead(request, buffered).refuse(ex);
		}
		catch (IdempotencyStoreException ex) {
			close(request);
			respondInstead(request, buffered).refuse(ex);
		}
	}

	@Override
	boolean isStored(int status) {
		return isEntered() && this.policy.isCommitted(status);
	}

	@Override
	void storeErrorAnsweredByFilter(HttpServletRequest request, BufferedResponse buffered) throws IOException {
		completeAfterRollback(request, buffered);
	}

	@Override
	void settleWithoutErrorPage(HttpServletRequest request, int status) {
		release(request);
	}

	/**
	 * Discards the buffered response for another one.
	 */
	private ResponseWriter respondInstead(HttpServletRequest request, BufferedResponse buffered) {
		buffered.restoreStart(request);
		return new ResponseWriter(request, (HttpServletResponse) buffered.getResponse(), this.cors,
				this.policy.problems());
	}

	private void release(HttpServletRequest request) {
		this.claimant.release();
		close(request);
	}

}
