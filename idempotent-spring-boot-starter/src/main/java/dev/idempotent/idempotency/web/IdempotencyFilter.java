package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.claim.Claimant;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.claim.TransactionalClaimant;
import dev.idempotent.idempotency.operation.OperationSettings;
import dev.idempotent.idempotency.web.OperationTable.Target;
import dev.idempotent.idempotency.web.Problem.RefusedRequestException;
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

	private static final int LARGE_BODY = 16 * 1024;

	private static final Duration LARGE_BODY_TIMEOUT = Duration.ofSeconds(10);

	private final ConcurrencyLimit largeBodies = new ConcurrencyLimit(Runtime.getRuntime().availableProcessors(),
			LARGE_BODY_TIMEOUT);

	private final IdempotencyGuard guard;

	private final IdempotentOperations operations;

	private final RequestKeys keys;

	private final RequestReader reader;

	private final ResponsePolicy responsePolicy;

	private final Duration waitTimeout;

	private final CommitFailureResolver commitFailures;

	/**
	 * Creates the filter.
	 * @param guard claims the keys
	 * @param operations the operations of the annotated handlers
	 * @param scopeResolver resolves the scope of a key
	 * @param tokens reads one-time tokens
	 * @param settings the settings
	 * @param exceptionResolver resolves failed commits; called on first use
	 */
	public IdempotencyFilter(IdempotencyGuard guard, IdempotentOperations operations,
			IdempotencyScopeResolver scopeResolver, RequestTokens tokens, IdempotencyWebSettings settings,
			Supplier<HandlerExceptionResolver> exceptionResolver) {
		this.guard = guard;
		this.operations = operations;
		this.keys = new RequestKeys(settings.namespace(), settings.header(), scopeResolver, tokens);
		this.reader = new RequestReader(settings.maxRequestBody());
		this.responsePolicy = new ResponsePolicy(settings);
		this.waitTimeout = settings.waitTimeout();
		this.commitFailures = new CommitFailureResolver(exceptionResolver);
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request.getDispatcherType() == DispatcherType.INCLUDE) {
			// Jetty maps a filter of all servlets to every dispatcher type.
			chain.doFilter(request, response);
			return;
		}
		HttpServletRequest http = (HttpServletRequest) request;
		HandlerRun open = HandlerRun.of(request);
		Target target = (open == null) ? targetOf(http) : null;
		if (open != null) {
			open.dispatch(http, (HttpServletResponse) response, chain);
		}
		else if (target != null) {
			runReplayOrRefuse(target, http, (HttpServletResponse) response, chain);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private @Nullable Target targetOf(HttpServletRequest request) {
		return (request.getDispatcherType() == DispatcherType.REQUEST) ? this.operations.find(request) : null;
	}

	private void runReplayOrRefuse(Target target, HttpServletRequest request, HttpServletResponse response,
			FilterChain chain) throws IOException, ServletException {
		long start = System.nanoTime();
		ResponseWriter writer = new ResponseWriter(request, response, target.cors(), this.responsePolicy.problems());
		Outcome outcome;
		try {
			ReadRequest read = this.reader.read(request);
			Identity identity = identify(target, read);
			Attempt attempt = attempt(target, identity);
			outcome = claim(target.operation(), attempt.claimant()).<Outcome, RuntimeException>fold(
					(acquired) -> run(identity, attempt, read.request(), response, chain, writer),
					(pending) -> () -> writer.refuse(Problem.IN_PROGRESS),
					(completed) -> () -> writer.replay(completed.response()),
					(mismatched) -> () -> writer.refuse(target.operation().keyReused()));
		}
		catch (RefusedRequestException ex) {
			this.guard.decided(target.operation().settings().observed(Kind.HTTP), null,
					IdempotencyObserver.Outcome.REFUSED, Duration.ofNanos(System.nanoTime() - start));
			outcome = () -> writer.refuse(ex);
		}
		catch (IdempotencyStoreException ex) {
			outcome = () -> writer.refuse(ex);
		}
		outcome.apply();
	}

	private Outcome run(Identity identity, Attempt attempt, HttpServletRequest request, HttpServletResponse response,
			FilterChain chain, ResponseWriter writer) {
		if (identity.key().expired()) {
			attempt.abandon().run();
			return () -> writer.refuse(Problem.TOKEN_EXPIRED);
		}
		Cancellation cancels = identity.cancels();
		Cancellation.Verdict verdict = (cancels != null) ? decide(cancels, attempt) : Cancellation.Verdict.RUN;
		return switch (verdict) {
			case RUN -> () -> attempt.run().get().begin(request, response, chain);
			case SKIP -> () -> attempt.run().get().beginWithoutHandler(request, response);
			case WAIT -> {
				attempt.abandon().run();
				yield () -> writer.refuse(Problem.IN_PROGRESS.refusal(
						"The request to cancel is still running. Nothing was done. Send the cancellation again in a moment."));
			}
		};
	}

	private Cancellation.Verdict decide(Cancellation cancels, Attempt attempt) {
		boolean decided = false;
		try {
			Cancellation.Verdict verdict = cancels.decide(this.guard, this.responsePolicy.problems());
			decided = true;
			return verdict;
		}
		finally {
			if (!decided) {
				attempt.abandon().run();
			}
		}
	}

	private Identity identify(Target target, ReadRequest read) {
		if (this.operations.requiresCaller(target)) {
			this.keys.requireCaller(read.request());
		}
		Supplier<Identity> identity = () -> {
			Fingerprint fingerprint = RequestFingerprinter.fingerprint(read.request(), read.content(),
					target.operation().exclusions());
			RequestKey key = this.keys.resolve(target.operation(), read, fingerprint);
			IdempotentOperation action = target.cancelled();
			Cancellation cancels = (action != null) ? this.keys.resolve(action, read.request(), key.key()) : null;
			return new Identity(key, (cancels != null) ? cancels.addTo(fingerprint) : fingerprint, cancels);
		};
		return (read.body().length > LARGE_BODY) ? this.largeBodies.run(identity) : identity.get();
	}

	private Attempt attempt(Target target, Identity identity) {
		OperationSettings settings = target.operation().settings();
		Operation operation = settings.observed(Kind.HTTP);
		RequestKey key = identity.key();
		IdempotencyTransactions transactions = target.operation().transactions();
		if (transactions == null) {
			Claimant claimant = this.guard.claimant(operation, key.key(), identity.fingerprint(), settings.lease(),
					key.retention());
			return new Attempt(claimant, () -> new LeaseHandlerRun(claimant, target.handler(), this.responsePolicy),
					claimant::release);
		}
		TransactionalClaimant claimant = this.guard.claimant(operation, key.key(), identity.fingerprint(),
				settings.lease(), key.retention(), transactions);
		return new Attempt(claimant, () -> new TransactionalHandlerRun(claimant, target.handler(), this.responsePolicy,
				this.commitFailures, target.cors()), () -> {
					claimant.rollback();
					claimant.release();
				});
	}

	private Claim claim(IdempotentOperation operation, Claimant claimant) {
		return operation.settings().waits() ? claimant.claimOrWait(this.waitTimeout) : claimant.claim();
	}

	private record Identity(RequestKey key, Fingerprint fingerprint, @Nullable Cancellation cancels) {
	}

	/**
	 * A claimant, the run that is created once it has acquired the key, and how to give
	 * the key up instead.
	 */
	private record Attempt(Claimant claimant, Supplier<HandlerRun> run, Runnable abandon) {
	}

	private interface Outcome {

		void apply() throws IOException, ServletException;

	}

}
