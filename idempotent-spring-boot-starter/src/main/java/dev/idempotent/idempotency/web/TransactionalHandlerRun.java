package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.Objects;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.idempotency.engine.TransactionalClaimant;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
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

	private static final String COMMIT_FAILED = "Committing the work of a handler has failed";

	private final TransactionalClaimant claimant;

	private final ResponsePolicy policy;

	/**
	 * Resolves failed commits of rendered views.
	 */
	private final HandlerExceptionResolver exceptionResolver;

	/**
	 * Whether the response is complete when Spring MVC has written it: no other code
	 * keeps its body.
	 */
	private final boolean writtenDirectly;

	/**
	 * Whether the method was called where it must not run.
	 */
	private volatile boolean entryRefused;

	/**
	 * Whether the transaction was rolled back: the response then reports the rollback.
	 */
	private boolean rolledBack;

	/**
	 * A failure behind the view that no exception handler has resolved.
	 */
	private @Nullable Exception unresolved;

	TransactionalHandlerRun(TransactionalClaimant claimant, @Nullable Handler handler, ResponsePolicy policy,
			HandlerExceptionResolver exceptionResolver, boolean writtenDirectly) {
		super(claimant.context(), handler);
		this.claimant = claimant;
		this.policy = policy;
		this.exceptionResolver = exceptionResolver;
		this.writtenDirectly = writtenDirectly;
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
		if (phase() != Phase.CLAIMED) {
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
		if (!entry().isOnItsThread()) {
			this.entryRefused = true;
			throw refused("The handler was called on another thread, which does not have its transaction.", null);
		}
		if (entry().entries() > 0) {
			this.entryRefused = true;
			throw refused("The handler was called a second time in one transaction, by advice such as @Retryable.",
					entry().failure());
		}
		super.methodEntered();
	}

	private static IllegalStateException refused(String reason, @Nullable Throwable cause) {
		return new IllegalStateException(reason + " Under Guarantee.TRANSACTION, it runs once in each transaction, on "
				+ "the thread of its request. Let the client send a failed request again, or move the advice to "
				+ "a service with transactions of its own, or use Guarantee.LEASE.", cause);
	}

	@Override
	void methodFailed(Throwable ex) {
		super.methodFailed(ex);
		withdrawRedirect();
	}

	/**
	 * Rolls back before the application resolves the exception, so that what its
	 * exception handlers write is not undone.
	 */
	@Override
	void handlingFailed(Exception ex) {
		super.handlingFailed(ex);
		rollback();
		withdrawRedirect();
	}

	private void rollback() {
		this.rolledBack = true;
		this.claimant.rollback();
	}

	/**
	 * The work behind the redirect is not committed.
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
	void dispatchBegins(HttpServletRequest request) {
		if (request.getDispatcherType() == DispatcherType.FORWARD && isHandlerRunning()) {
			// The container ends the response after a forward, before the commit.
			throw new IllegalStateException("A handler under Guarantee.TRANSACTION forwarded its request before it "
					+ "returned. Return the name of a view, such as \"forward:/path\", or use Guarantee.LEASE.");
		}
	}

	/**
	 * Commits within the call of the handler: a failure counts as one of the handler, and
	 * no interceptor has closed yet what the commit needs, such as an entity manager. If
	 * other code may keep a part of the response, only the end of the dispatch is late
	 * enough.
	 */
	@Override
	void responseWritten(HttpServletRequest request) throws IOException, ServletException {
		if (!this.writtenDirectly) {
			return;
		}
		BufferedResponse buffered = Objects.requireNonNull(response());
		rethrow(settle(request, buffered));
		if (!isOpen()) {
			buffered.flushSent();
		}
	}

	/**
	 * Commits what a view was rendered for. Spring MVC would only log a failure.
	 */
	@Override
	void handlingCompleted(HttpServletRequest request, @Nullable Exception failure) {
		if (failure != null) {
			rollback();
			return;
		}
		if (!this.writtenDirectly) {
			return;
		}
		try {
			settleAndResolve(request, Objects.requireNonNull(response()));
		}
		catch (Exception ex) {
			this.unresolved = ex;
		}
	}

	@Override
	void dispatchEnds(HttpServletRequest request, BufferedResponse buffered, boolean returned, boolean abandoned,
			boolean nested) throws IOException, ServletException {
		boolean settled = false;
		try {
			if (returned) {
				rethrow(this.unresolved);
				if (isOpen()) {
					settleAndResolve(request, buffered);
				}
				settled = true;
			}
		}
		finally {
			if (!settled && !nested && isOpen()) {
				rollback();
				release(request);
			}
		}
	}

	private void settleAndResolve(HttpServletRequest request, BufferedResponse buffered)
			throws IOException, ServletException {
		sendErrorIfUnanswered(request, buffered);
		Exception failure = settle(request, buffered);
		if (failure != null) {
			resolve(request, buffered, failure);
			handlingFailed(failure);
			sendErrorIfUnanswered(request, buffered);
			answerRolledBack(request, buffered);
		}
	}

	/**
	 * Commits, or rolls back, and sends the response that reports the outcome.
	 * @return the failure of a commit for which there is no response yet
	 */
	private @Nullable Exception settle(HttpServletRequest request, BufferedResponse buffered) throws IOException {
		boolean returned = phase() == Phase.RETURNED && !this.rolledBack && !buffered.isErrorSent();
		if (returned && commits(buffered)) {
			return commit(request, buffered);
		}
		boolean success = isSuccess(returned, buffered.getStatus());
		rollback();
		withdrawFlash(request);
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
		return null;
	}

	/**
	 * Returns whether the response claims work that is rolled back. Without the handler,
	 * such as in an interceptor, a redirect does not, and neither does what the
	 * application makes of an exception.
	 */
	private boolean isSuccess(boolean returned, int status) {
		return returned ? status < HttpServletResponse.SC_BAD_REQUEST
				: status < HttpServletResponse.SC_MULTIPLE_CHOICES && !this.rolledBack && !isFailed();
	}

	private boolean commits(BufferedResponse buffered) {
		return entry().entries() == 1 && entry().isReturned() && !this.entryRefused && !buffered.isTooLong()
				&& !this.claimant.isRollbackOnly() && this.policy.commits(buffered.getStatus());
	}

	private @Nullable Exception commit(HttpServletRequest request, BufferedResponse buffered) throws IOException {
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
			withdrawFlash(request);
			if (!(ex.getCause() instanceof IdempotencyClaimLostException lost)) {
				buffered.restoreStart(request);
				// As Spring MVC does before it resolves the exception of a handler.
				request.removeAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE);
				return (ex.getCause() instanceof Exception cause) ? cause
						: new ServletException(COMMIT_FAILED, ex.getCause());
			}
			release(request);
			respondInstead(request, buffered).refuse(lost);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			close(request);
			respondInstead(request, buffered).refuseOutcomeUnknown(ex);
		}
		return null;
	}

	/**
	 * Lets the exception handlers of the application resolve the failure of a commit that
	 * follows the handling of the request, as if the handler had thrown it.
	 * @throws ServletException if none resolves it
	 */
	private void resolve(HttpServletRequest request, HttpServletResponse response, Exception failure)
			throws IOException, ServletException {
		Object handler = request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		if (handler instanceof HandlerMethod method) {
			// It may have a bean name, and the handlers of exceptions are called on the
			// bean.
			handler = method.createWithResolvedBean();
		}
		ModelAndView answer = this.exceptionResolver.resolveException(request, response, handler, failure);
		if (answer == null || !answer.isEmpty()) {
			rethrow(failure);
		}
	}

	private static void rethrow(@Nullable Exception failure) throws IOException, ServletException {
		if (failure instanceof RuntimeException unchecked) {
			throw unchecked;
		}
		if (failure instanceof IOException io) {
			throw io;
		}
		if (failure != null) {
			throw (failure instanceof ServletException known) ? known : new ServletException(COMMIT_FAILED, failure);
		}
	}

	/**
	 * Sends the application's response to work that was rolled back. A response with a
	 * status from 400 on is stored first: a key never has two responses.
	 */
	private void answerRolledBack(HttpServletRequest request, BufferedResponse buffered) throws IOException {
		int status = buffered.getStatus();
		if (!isEntered() || !this.policy.isStoredAfterRollback(status)) {
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
		return isEntered() && this.policy.isStoredAfterRollback(status);
	}

	@Override
	void storeErrorAnsweredByFilter(HttpServletRequest request, BufferedResponse buffered) throws IOException {
		completeAfterRollback(request, buffered);
	}

	@Override
	void settleWithoutErrorPage(HttpServletRequest request, int status) {
		release(request);
	}

	private ResponseWriter respondInstead(HttpServletRequest request, BufferedResponse buffered) {
		return ResponseWriter.inPlaceOf(buffered, request, this.policy.problems());
	}

	private void release(HttpServletRequest request) {
		this.claimant.release();
		close(request);
	}

}
