package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.security.Principal;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.engine.Claimant;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.engine.TransactionalClaimant;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.IdempotentOperations.Target;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
import dev.idempotent.idempotency.web.RequestIdentifier.Identity;
import dev.idempotent.token.OneTimeTokens;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.web.servlet.HandlerExceptionResolver;

/**
 * Runs each operation once per key: for a request to an annotated handler, runs the
 * handler, replays the stored response, or refuses the request. Other requests pass
 * unchanged. Must be mapped to the dispatcher types REQUEST, ASYNC, ERROR and FORWARD, as
 * the last filter before the servlet: a replay bypasses the filters behind it.
 */
public final class IdempotencyFilter implements Filter {

	private final IdempotencyEngine engine;

	private final IdempotentOperations operations;

	private final RequestIdentifier identifier;

	private final IdempotencyWebSettings settings;

	private final ResponsePolicy responsePolicy;

	private final Supplier<HandlerExceptionResolver> exceptionResolver;

	/**
	 * Creates the filter.
	 * @param engine claims the keys
	 * @param operations the operations of the annotated handlers
	 * @param scopeResolver resolves the scope of a key
	 * @param tokens verifies one-time tokens; called if a request has one
	 * @param authenticated returns the caller of the current thread, or {@code null};
	 * used if a request has a token and no principal
	 * @param csrfParameter returns the parameter of a request that differs in each
	 * rendering of a form, or {@code null}; called for forms
	 * @param settings the settings
	 * @param exceptionResolver resolves failed commits; called on first use
	 */
	public IdempotencyFilter(IdempotencyEngine engine, IdempotentOperations operations,
			IdempotencyScopeResolver scopeResolver, Supplier<OneTimeTokens> tokens,
			Supplier<@Nullable Principal> authenticated, Function<HttpServletRequest, @Nullable String> csrfParameter,
			IdempotencyWebSettings settings, Supplier<HandlerExceptionResolver> exceptionResolver) {
		this.engine = engine;
		this.operations = operations;
		this.identifier = new RequestIdentifier(settings, scopeResolver, new RequestTokens(tokens, authenticated),
				csrfParameter);
		this.settings = settings;
		this.responsePolicy = new ResponsePolicy(settings);
		this.exceptionResolver = exceptionResolver;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request.getDispatcherType() == DispatcherType.INCLUDE) {
			// Jetty maps a filter of all servlets to every dispatcher type.
			chain.doFilter(request, response);
			return;
		}
		HttpServletRequest httpRequest = (HttpServletRequest) request;
		HttpServletResponse httpResponse = (HttpServletResponse) response;
		HandlerRun open = HandlerRun.of(request);
		if (open != null) {
			open.dispatch(httpRequest, httpResponse, chain);
			return;
		}
		if (request.getDispatcherType() != DispatcherType.REQUEST || !this.operations.mayInclude(httpRequest)) {
			chain.doFilter(request, response);
			return;
		}
		BufferedRequest.Unread unread = new BufferedRequest.Unread(httpRequest);
		Target target = this.operations.find(unread);
		HttpServletRequest whole = unread.rewind();
		if (target != null) {
			runReplayOrRefuse(target, whole, httpResponse, chain);
			return;
		}
		chain.doFilter(whole, response);
	}

	private void runReplayOrRefuse(Target target, HttpServletRequest request, HttpServletResponse response,
			FilterChain chain) throws IOException, ServletException {
		long start = System.nanoTime();
		ResponseWriter writer = new ResponseWriter(request, response, target.cors(), this.responsePolicy.problems());
		IdempotentOperation operation = target.operation();
		BufferedRequest buffered;
		HandlerRun run;
		Cancellation.Verdict verdict;
		try {
			buffered = BufferedRequest.read(request, this.settings.maxRequestBody());
			Identity identity = identify(target, buffered);
			writer.giveReceipt(identity.headerKey());
			Claimant claimant = claimant(operation, identity);
			Claim claim = operation.settings().waits() ? claimant.claimOrWait(this.settings.waitTimeout())
					: claimant.claim();
			if (!claim.isAcquired()) {
				replayOrRefuse(claim, operation, writer);
				return;
			}
			run = run(target, claimant);
			if (identity.expired()) {
				run.abandon();
				writer.refuse(Problem.TOKEN_EXPIRED);
				return;
			}
			verdict = decide(identity.cancels(), run);
		}
		catch (RefusedRequestException ex) {
			this.engine.decided(operation.settings().observed(Kind.HTTP), null, IdempotencyObserver.Outcome.REFUSED,
					Duration.ofNanos(System.nanoTime() - start));
			writer.refuse(ex);
			return;
		}
		catch (IdempotencyStoreException ex) {
			writer.refuse(ex);
			return;
		}
		switch (verdict) {
			case RUN -> run.begin(buffered, response, chain);
			case SKIP -> run.beginWithoutHandler(buffered, response, null);
			case REFUSE -> run.beginWithoutHandler(buffered, response,
					this.responsePolicy.problems().respond(Problem.ACTION_UNKNOWN));
			case WAIT -> {
				run.abandon();
				writer.refuse(Problem.IN_PROGRESS
					.refusal("The request to cancel is still running. Nothing was done. Send the cancellation again in "
							+ "a moment."));
			}
		}
	}

	private Identity identify(Target target, BufferedRequest request) {
		if (this.operations.requiresCaller(target)) {
			this.identifier.requireCaller(request);
		}
		return this.identifier.identify(target.operation(), target.cancelled(), request);
	}

	private Claimant claimant(IdempotentOperation operation, Identity identity) {
		OperationSettings claimed = operation.settings();
		IdempotencyTransactions transactions = operation.transactions();
		return (transactions == null)
				? this.engine.claimant(claimed.observed(Kind.HTTP), identity.key(), identity.fingerprint(),
						claimed.lease(), identity.retention())
				: this.engine.claimant(claimed.observed(Kind.HTTP), identity.key(), identity.fingerprint(),
						claimed.lease(), identity.retention(), transactions);
	}

	private HandlerRun run(Target target, Claimant claimant) {
		return (claimant instanceof TransactionalClaimant transactional)
				? new TransactionalHandlerRun(transactional, target.handler(), this.responsePolicy,
						this.exceptionResolver, target.cors())
				: new LeaseHandlerRun(claimant, target.handler(), this.responsePolicy);
	}

	private Cancellation.Verdict decide(@Nullable Cancellation cancels, HandlerRun run) {
		boolean decided = false;
		try {
			Cancellation.Verdict verdict = (cancels != null)
					? cancels.decide(this.engine, this.responsePolicy.problems()) : Cancellation.Verdict.RUN;
			decided = true;
			return verdict;
		}
		finally {
			if (!decided) {
				run.abandon();
			}
		}
	}

	private static void replayOrRefuse(Claim claim, IdempotentOperation operation, ResponseWriter writer)
			throws IOException {
		if (claim instanceof Claim.Completed completed) {
			writer.replay(completed.response());
		}
		else if (claim.isPending()) {
			writer.refuse(Problem.IN_PROGRESS);
		}
		else if (claim instanceof Claim.Mismatched) {
			writer.refuse(operation.keyReused());
		}
		else {
			throw new IllegalStateException("A claim has the unknown outcome " + claim);
		}
	}

}
