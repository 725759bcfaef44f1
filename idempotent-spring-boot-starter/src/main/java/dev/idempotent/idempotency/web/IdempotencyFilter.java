package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.io.PrintWriter;
import java.security.Principal;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
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
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.DisconnectedClientHelper;

/**
 * Runs each operation once per key: for a request to an annotated handler, runs the
 * handler, replays the stored response, or refuses the request. Other requests pass
 * unchanged. Must be mapped to the dispatcher types REQUEST, ASYNC, ERROR and FORWARD, as
 * the last filter before the servlet.
 * <p>
 * A request passes the filter before its handler is known, as a {@link Passage}. The
 * {@link IdempotentHandlerAdapter} claims the key when the dispatcher servlet has found
 * the handler and its interceptors have let the request pass; the filter settles the key
 * when the response is complete.
 */
public final class IdempotencyFilter implements Filter {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyFilter.class);

	/**
	 * The attribute of a request that has reached a servlet that is not a dispatcher
	 * servlet.
	 */
	private static final String REACHED = IdempotencyFilter.class.getName() + ".REACHED";

	private final IdempotencyEngine engine;

	private final IdempotentOperations operations;

	private final RequestIdentifier identifier;

	private final IdempotencyWebSettings settings;

	private final ResponsePolicy responsePolicy;

	private final HandlerExceptionResolver exceptionResolver;

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
	 * @param exceptionResolver resolves failed commits of rendered views
	 */
	public IdempotencyFilter(IdempotencyEngine engine, IdempotentOperations operations,
			IdempotencyScopeResolver scopeResolver, Supplier<OneTimeTokens> tokens,
			Supplier<@Nullable Principal> authenticated, Function<HttpServletRequest, @Nullable String> csrfParameter,
			IdempotencyWebSettings settings, HandlerExceptionResolver exceptionResolver) {
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
		if (!this.operations.mayInclude(httpRequest.getMethod()) || !mayClaim(httpRequest)) {
			chain.doFilter(request, response);
			return;
		}
		boolean dispatched = this.operations.isDispatched(httpRequest);
		Target target = dispatched ? null : this.operations.findOutsideMvc(httpRequest);
		if (!dispatched) {
			request.setAttribute(REACHED, true);
		}
		if (!dispatched && target == null) {
			chain.doFilter(request, response);
			return;
		}
		FilteredRequest passage = new FilteredRequest(httpRequest, httpResponse);
		if (target == null || passage.claim(target, true)) {
			passage.dispatch(chain);
		}
	}

	/**
	 * The first dispatch that reaches a handler claims the key. It may be a later one of
	 * the container, if a filter has suspended the request, or has forwarded it.
	 */
	private static boolean mayClaim(HttpServletRequest request) {
		if (request.getDispatcherType() == DispatcherType.REQUEST) {
			return true;
		}
		// An error page is not the operation.
		boolean errorPage = request.getDispatcherType() == DispatcherType.ERROR
				|| request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) != null;
		Passage around = Passage.of(request);
		return !errorPage && request.getAttribute(REACHED) == null && (around == null || around.isWaiting());
	}

	/**
	 * Claims the key of a request, or answers it: with the stored response, a problem, or
	 * the response of a cancellation that has nothing to undo.
	 * @param writtenDirectly whether the handler writes to the response of the filter
	 * @return whether a run of the handler is open; otherwise the request is answered
	 */
	private boolean claim(FilteredRequest passage, Target target, boolean writtenDirectly)
			throws IOException, ServletException {
		long start = System.nanoTime();
		HttpServletRequest request = passage.request.atStart();
		ResponseWriter writer = new ResponseWriter(request, passage.plainResponse(), this.responsePolicy.problems());
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
				return false;
			}
			run = run(target, claimant, writtenDirectly);
			if (identity.expired()) {
				run.abandon();
				writer.refuse(Problem.TOKEN_EXPIRED);
				return false;
			}
			verdict = decide(identity.cancels(), run);
		}
		catch (RefusedRequestException ex) {
			this.engine.decided(operation.settings().observed(Kind.HTTP), null, IdempotencyObserver.Outcome.REFUSED,
					Duration.ofNanos(System.nanoTime() - start));
			writer.refuse(ex);
			return false;
		}
		catch (IdempotencyStoreException ex) {
			writer.refuse(ex);
			return false;
		}
		if (verdict == Cancellation.Verdict.WAIT) {
			run.abandon();
			writer.refuse(Problem.IN_PROGRESS
				.refusal("The request to cancel is still running. Nothing was done. Send the cancellation again in "
						+ "a moment."));
			return false;
		}
		passage.open(run, buffered);
		if (verdict != Cancellation.Verdict.RUN) {
			run.answerWithoutHandler(passage.request, (verdict == Cancellation.Verdict.REFUSE)
					? this.responsePolicy.problems().respond(Problem.ACTION_UNKNOWN) : null);
			return false;
		}
		return true;
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
				? this.engine.claimant(claimed.observed(Kind.HTTP), identity.run(), claimed.lease())
				: this.engine.claimant(claimed.observed(Kind.HTTP), identity.run(), claimed.lease(), transactions);
	}

	private HandlerRun run(Target target, Claimant claimant, boolean writtenDirectly) {
		return (claimant instanceof TransactionalClaimant transactional)
				? new TransactionalHandlerRun(transactional, target.handler(), this.responsePolicy,
						this.exceptionResolver, writtenDirectly)
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

	/**
	 * A request whose handler is not known yet. Once the key is claimed, the handler gets
	 * the request that was compared, and writes to a response that is buffered.
	 */
	private final class FilteredRequest implements Passage {

		private final BufferedRequest.Unclaimed request;

		private final UnclaimedResponse response;

		private Progress progress = Progress.WAITING;

		private @Nullable HandlerMapping mapping;

		private @Nullable Exception lost;

		private @Nullable HandlerRun run;

		private @Nullable BufferedResponse buffered;

		private @Nullable IdempotencyContext outer;

		private FilteredRequest(HttpServletRequest request, HttpServletResponse response) {
			this.request = new BufferedRequest.Unclaimed(request, IdempotencyFilter.this.settings.maxRequestBody());
			this.response = new UnclaimedResponse(response);
		}

		private void dispatch(FilterChain chain) throws IOException, ServletException {
			Object around = this.request.getAttribute(ATTRIBUTE);
			this.request.setAttribute(ATTRIBUTE, this);
			boolean returned = false;
			try {
				chain.doFilter(this.request, this.response);
				returned = true;
			}
			finally {
				if (isWaiting()) {
					// A null value removes it.
					this.request.setAttribute(ATTRIBUTE, around);
				}
				end(returned);
			}
		}

		private void end(boolean returned) throws IOException, ServletException {
			HandlerRun opened = this.run;
			if (opened == null) {
				if (returned && this.lost != null && this.response.isUntouched()) {
					logger.error("A request has failed before its handler was called because a connection was lost",
							this.lost);
					this.response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
				}
				return;
			}
			try {
				opened.dispatchEnds(this.request, Objects.requireNonNull(this.buffered), returned, false, false);
			}
			finally {
				IdempotencyContext.bind(this.outer);
			}
		}

		@Override
		public boolean isWaiting() {
			return this.progress == Progress.WAITING;
		}

		@Override
		public boolean found(Object handler, HandlerMapping foundBy) {
			this.mapping = foundBy;
			return IdempotencyFilter.this.operations.mayClaimFor(handler);
		}

		/**
		 * Claims for the first handler only: if that one forwards to another, its work
		 * may already be done.
		 */
		@Override
		public boolean reach(Object handler, ServletResponse handed) throws IOException, ServletException {
			if (!isWaiting()) {
				return true;
			}
			this.progress = Progress.REACHED;
			this.request.handlerKnown();
			this.response.handlerKnown();
			Target target = IdempotencyFilter.this.operations.find(handler, this.mapping, this.request);
			// Other code may keep the body until the dispatcher servlet or a filter
			// returns.
			return target == null || claim(target, handed == this.response);
		}

		private boolean claim(Target target, boolean writtenDirectly) throws IOException, ServletException {
			this.progress = Progress.CLAIMING;
			this.response.handlerKnown();
			boolean refused = this.response.isRefusedByContainer();
			if (refused) {
				logger.debug("A {} request did not reach its handler because the container has refused it",
						this.request.getMethod());
			}
			else {
				this.response.requireUnused();
			}
			boolean opened = !refused && IdempotencyFilter.this.claim(this, target, writtenDirectly);
			this.progress = Progress.REACHED;
			if (!opened) {
				this.response.setResponse(BufferedResponse.closed(plainResponse()));
			}
			return opened;
		}

		/**
		 * Spring MVC responds with an empty 200 if it mistakes the failure for a client
		 * that has disconnected.
		 */
		@Override
		public void failed(Exception failure) {
			if (this.progress != Progress.REACHED && DisconnectedClientHelper.isClientDisconnectedException(failure)) {
				this.lost = failure;
			}
		}

		private HttpServletResponse plainResponse() {
			return (HttpServletResponse) this.response.getResponse();
		}

		private void open(HandlerRun claimed, BufferedRequest read) {
			BufferedResponse target = claimed.bufferResponse(this.request, plainResponse());
			this.response.setResponse(target);
			this.request.continueWith(claimed.wrapRequest(read, target));
			this.outer = claimed.open(this.request, target);
			this.buffered = target;
			this.run = claimed;
		}

	}

	/**
	 * How far a request has come whose run is not open.
	 */
	private enum Progress {

		/**
		 * Filters and interceptors have it.
		 */
		WAITING,

		/**
		 * Its key is being claimed, or that has failed with an exception.
		 */
		CLAIMING,

		/**
		 * Its handler is called, or it has been answered.
		 */
		REACHED

	}

	/**
	 * The response to a request whose handler is not known yet.
	 */
	private static final class UnclaimedResponse extends HttpServletResponseWrapper {

		private boolean used;

		private boolean handlerKnown;

		UnclaimedResponse(HttpServletResponse response) {
			super(response);
		}

		@Override
		public ServletOutputStream getOutputStream() throws IOException {
			this.used = true;
			return super.getOutputStream();
		}

		@Override
		public PrintWriter getWriter() throws IOException {
			this.used = true;
			return super.getWriter();
		}

		/**
		 * What is flushed before the handler is known and without a body would commit the
		 * response of a handler that has not run.
		 */
		@Override
		public void flushBuffer() throws IOException {
			if (this.handlerKnown || this.used) {
				super.flushBuffer();
			}
		}

		private void handlerKnown() {
			this.handlerKnown = true;
		}

		private boolean isUntouched() {
			return !this.used && !isCommitted() && getStatus() == SC_OK;
		}

		/**
		 * Returns whether the container has refused the request meanwhile, as Tomcat does
		 * if the client breaks off an upload.
		 */
		private boolean isRefusedByContainer() {
			return !this.used && isCommitted() && getStatus() >= SC_BAD_REQUEST
					&& !IdempotencyErrorFilter.isErrorSent(getResponse());
		}

		/**
		 * What was written before the claim would be missing in the stored response.
		 */
		private void requireUnused() {
			if (this.used || isCommitted()) {
				throw new IllegalStateException("Nothing was done: an interceptor has begun the response "
						+ "to a request with an idempotency key, and has let the request pass. Let interceptors either "
						+ "respond or pass the request on; they can set headers.");
			}
		}

	}

}
