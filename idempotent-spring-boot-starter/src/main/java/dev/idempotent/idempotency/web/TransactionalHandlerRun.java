package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.TransactionalClaimant;
import dev.idempotent.idempotency.claim.WorkRolledBackException;
import dev.idempotent.idempotency.web.OperationTable.Handler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.method.HandlerMethod;

/**
 * A run whose response commits with its work. The first dispatch runs the handler and
 * ends the transaction; an error dispatch may then write the response to work that was
 * rolled back.
 */
final class TransactionalHandlerRun extends HandlerRun {

	private final TransactionalClaimant claimant;

	private final ResponsePolicy policy;

	private final CommitFailureResolver commitFailureResolver;

	private final @Nullable CorsConfiguration cors;

	private final Thread thread = Thread.currentThread();

	private boolean called;

	private boolean advised;

	private boolean methodEntered;

	private boolean methodReturned;

	private volatile boolean failed;

	private @Nullable Throwable failure;

	private boolean rolledBack;

	TransactionalHandlerRun(TransactionalClaimant claimant, @Nullable Handler handler, ResponsePolicy policy,
			CommitFailureResolver commitFailureResolver, @Nullable CorsConfiguration cors) {
		super(claimant.context(), handler);
		this.claimant = claimant;
		this.policy = policy;
		this.commitFailureResolver = commitFailureResolver;
		this.cors = cors;
	}

	@Override
	void answersWithoutHandler() {
		super.answersWithoutHandler();
		this.called = true;
	}

	/**
	 * Each call has a transaction of its own.
	 */
	@Override
	void handlerCalled(HandlerMethod method) {
		if (this.called) {
			throw refused(method + " was called a second time in one transaction, by a forward or an include.", null);
		}
		this.advised = isAdvised(method);
		if (this.advised && !HandlerEntryAdvisor.isWatched(method.getBean(), method.getMethod())) {
			throw refused(method + " has advice that could hide its failures: its proxy is frozen or opaque, or "
					+ "other advice was added last.", null);
		}
		super.handlerCalled(method);
		this.called = true;
	}

	/**
	 * The work of an attempt that has failed cannot be undone without the transaction.
	 */
	@Override
	void handlerEntered() {
		if (Thread.currentThread() != this.thread) {
			this.failed = true;
			throw refused("The handler was called on another thread, which does not have its transaction.", null);
		}
		if (this.methodEntered) {
			this.failed = true;
			throw refused("The handler was called a second time in one transaction, by advice such as @Retryable.",
					this.failure);
		}
		super.handlerEntered();
		this.methodEntered = true;
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
	@Nullable Object handlerReturned(Method method, @Nullable Object value) {
		this.methodReturned = true;
		return super.handlerReturned(method, value);
	}

	@Override
	void handlerFailed(Throwable failure) {
		super.handlerFailed(failure);
		fail();
		this.failure = failure;
	}

	@Override
	void handlingFailed(Exception failure) {
		super.handlingFailed(failure);
		fail();
	}

	private void fail() {
		this.failed = true;
		BufferedResponse response = response();
		if (response != null) {
			// The work behind the redirect will be rolled back.
			response.withdrawRedirect();
		}
	}

	@Override
	BufferedResponse bufferResponse(HttpServletRequest request, HttpServletResponse response) {
		return BufferedResponse.withoutStreaming(response, this.policy.maxBuffered());
	}

	@Override
	HttpServletRequest wrapRequest(HttpServletRequest request, BufferedResponse response) {
		return new SynchronousRequest(request);
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
		boolean returned = hasReturned() && !this.rolledBack && !buffered.isErrorSent();
		if (returned && commits(buffered)) {
			commit(request, buffered);
			return;
		}
		this.claimant.rollback();
		this.rolledBack = true;
		if (buffered.isTooLong()) {
			release(request);
			respondInstead(request, buffered).refuse(Problem.RESPONSE_TOO_LARGE
				.refusal("Nothing was done: the response is longer than " + this.policy.maxBuffered()
						+ " bytes, the most that is buffered until its transaction has committed "
						+ "(idempotent.web.max-buffered-response)."));
		}
		else if (returned && buffered.getStatus() < HttpServletResponse.SC_BAD_REQUEST) {
			release(request);
			respondInstead(request, buffered).refuse(Problem.ROLLED_BACK);
		}
		else {
			answerRolledBack(request, buffered);
		}
	}

	/**
	 * Without advice, the call by Spring MVC is that of the handler.
	 */
	private boolean isDone() {
		return this.called && !this.failed && (!this.advised || this.methodReturned);
	}

	private boolean commits(BufferedResponse buffered) {
		return isDone() && !buffered.isTooLong() && !this.claimant.isRollbackOnly()
				&& this.policy.isCommitted(buffered.getStatus());
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
			handlingFailed(this.commitFailureResolver.resolve(request, buffered, ex.getCause()));
			sendErrorIfUnanswered(request, buffered);
			answerRolledBack(request, buffered);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			close(request);
			respondInstead(request, buffered).refuseOutcomeUnknown(ex);
		}
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
			Reply toSend = claim.<Reply, RuntimeException>fold((acquired) -> {
				throw new IllegalStateException("The key is still claimed after its response was stored");
			}, (pending) -> () -> respondInstead(request, buffered).refuse(Problem.IN_PROGRESS),
					(completed) -> completed.response().equals(toStore) ? buffered::sendBuffered
							: () -> respondInstead(request, buffered).replay(completed.response()),
					(mismatched) -> () -> respondInstead(request, buffered).refuse(Problem.KEY_REUSED));
			toSend.send();
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

	private interface Reply {

		void send() throws IOException;

	}

}
