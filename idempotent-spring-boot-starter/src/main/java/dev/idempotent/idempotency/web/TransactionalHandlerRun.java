package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyClaimLostException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.TransactionalClaimant;
import dev.idempotent.idempotency.claim.WorkRolledBackException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsConfiguration;

/**
 * A run whose answer commits with its work. The first dispatch runs the handler and ends
 * the transaction; an error dispatch may then write the answer of work that was undone.
 */
final class TransactionalHandlerRun extends HandlerRun {

	private final TransactionalClaimant claimant;

	private final ResponsePolicy policy;

	private final CommitFailures commitFailures;

	private final @Nullable CorsConfiguration cors;

	private int handlersRunning;

	private boolean started;

	private boolean failed;

	private boolean undone;

	private @Nullable BufferedResponse held;

	private ResponseStart start = ResponseStart.empty();

	TransactionalHandlerRun(TransactionalClaimant claimant, boolean entryIsNoted, ResponsePolicy policy,
			CommitFailures commitFailures, @Nullable CorsConfiguration cors) {
		super(claimant.context(), entryIsNoted);
		this.claimant = claimant;
		this.policy = policy;
		this.commitFailures = commitFailures;
		this.cors = cors;
	}

	@Override
	void handlerEntered() {
		super.handlerEntered();
		if (this.held != null && !this.started) {
			this.started = true;
			this.start = ResponseStart.of(this.held);
		}
		this.handlersRunning++;
	}

	@Override
	void handlerLeft() {
		this.handlersRunning--;
	}

	@Override
	void handlingFailed(Exception failure) {
		super.handlingFailed(failure);
		this.failed = true;
		if (this.held != null) {
			// What it promised will be undone.
			this.held.withdrawRedirect();
		}
	}

	@Override
	BufferedResponse hold(HttpServletRequest request, HttpServletResponse response) {
		this.start = ResponseStart.of(response);
		BufferedResponse holding = BufferedResponse.whole(response, this.policy.maxHeld());
		this.held = holding;
		return holding;
	}

	@Override
	HttpServletRequest hold(HttpServletRequest request, BufferedResponse response) {
		return new SynchronousRequest(request);
	}

	@Override
	void run(HttpServletRequest request, HttpServletResponse response, BufferedResponse holding, FilterChain chain)
			throws IOException, ServletException {
		boolean forwarded = request.getDispatcherType() == DispatcherType.FORWARD;
		if (forwarded && this.handlersRunning > 0) {
			// The container ends the response with the forward, before the commit.
			throw new IllegalStateException("A handler under Guarantee.TRANSACTION forwarded its request before it "
					+ "returned. Return the name of a view, such as \"forward:/path\", or use Guarantee.LEASE.");
		}
		boolean settled = false;
		try {
			chain.doFilter(request, response);
			if (isOpen(request)) {
				answerWhatNobodyDid(request, holding);
				settle(request, holding);
			}
			settled = true;
		}
		finally {
			if (!settled && !forwarded && isOpen(request)) {
				this.claimant.rollback();
				free(request);
			}
		}
	}

	private void settle(HttpServletRequest request, BufferedResponse holding) throws IOException, ServletException {
		boolean asHandlerReturned = !this.undone && !this.failed && !holding.isErrorSent();
		if (asHandlerReturned && commits(holding)) {
			commit(request, holding);
			return;
		}
		this.claimant.rollback();
		this.undone = true;
		if (holding.isTooLong()) {
			free(request);
			answer(request, holding).tooLong(this.policy.maxHeld());
		}
		else if (asHandlerReturned && isEntered() && holding.getStatus() < HttpServletResponse.SC_BAD_REQUEST) {
			free(request);
			answer(request, holding).rolledBack();
		}
		else {
			answerUndone(request, holding);
		}
	}

	private boolean commits(BufferedResponse holding) {
		return isEntered() && !holding.isTooLong() && !this.claimant.isRollbackOnly()
				&& this.policy.isCommitted(holding.getStatus());
	}

	private void commit(HttpServletRequest request, BufferedResponse holding) throws IOException, ServletException {
		StoredResponse answer = answerToStore(holding);
		try {
			StoredResponse onRecord = this.claimant.commitAndComplete(answer);
			close(request);
			if (onRecord == null || (onRecord.isKept() && onRecord.equals(answer))) {
				holding.sendHeld();
			}
			else {
				answer(request, holding).recorded(onRecord);
			}
		}
		catch (WorkRolledBackException ex) {
			this.undone = true;
			if (ex.getCause() instanceof IdempotencyClaimLostException lost) {
				free(request);
				answer(request, holding).claimLost(lost);
				return;
			}
			this.start.restore(request, holding);
			handlingFailed(this.commitFailures.resolve(request, holding, ex.getCause()));
			answerWhatNobodyDid(request, holding);
			answerUndone(request, holding);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			close(request);
			answer(request, holding).outcomeUnknown(ex);
		}
	}

	/**
	 * Sends what the application says of work that was undone. From 400 on it is kept
	 * first: a key never has two answers.
	 */
	private void answerUndone(HttpServletRequest request, BufferedResponse holding) throws IOException {
		int status = holding.getStatus();
		if (!isEntered() || status < HttpServletResponse.SC_BAD_REQUEST || !this.policy.isCommitted(status)) {
			free(request);
			holding.sendHeld();
		}
		else if (holding.isErrorSent()) {
			this.claimant.stopRenewal();
		}
		else {
			keep(request, holding);
		}
	}

	private void keep(HttpServletRequest request, BufferedResponse holding) throws IOException {
		StoredResponse answer = answerToStore(holding);
		try {
			Claim kept = this.claimant.completeAfterRollback(answer);
			close(request);
			boolean own = kept.fold((acquired) -> false, (pending) -> false,
					(completed) -> completed.response().equals(answer), (mismatched) -> false);
			if (own) {
				holding.sendHeld();
			}
			else {
				answer(request, holding).notAcquired(kept);
			}
		}
		catch (WorkRolledBackException ex) {
			free(request);
			answer(request, holding).notKept(ex);
		}
		catch (IdempotencyStoreException ex) {
			close(request);
			answer(request, holding).notClaimed(ex);
		}
	}

	@Override
	void errorAnswered(HttpServletRequest request, BufferedResponse holding) throws IOException {
		keep(request, holding);
	}

	@Override
	void errorPageMissed(HttpServletRequest request, int status) {
		free(request);
	}

	private StoredResponse answerToStore(BufferedResponse holding) {
		CapturedResponse captured = holding.capture();
		return (captured.body().length <= this.policy.maxBody()) ? captured.encode() : StoredResponse.notKept();
	}

	/**
	 * Another answer than the one that is held.
	 */
	private AnswerWriter answer(HttpServletRequest request, BufferedResponse holding) {
		this.start.restore(request, holding);
		return new AnswerWriter(request, (HttpServletResponse) holding.getResponse(), this.cors);
	}

	private void free(HttpServletRequest request) {
		this.claimant.release();
		close(request);
	}

}
