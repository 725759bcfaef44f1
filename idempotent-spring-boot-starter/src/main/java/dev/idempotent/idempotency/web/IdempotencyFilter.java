package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.OnPending;
import dev.idempotent.idempotency.claim.Claimant;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import dev.idempotent.idempotency.claim.IdempotencyTransactions;
import dev.idempotent.idempotency.claim.TransactionalClaimant;
import dev.idempotent.idempotency.web.IdempotentOperations.Target;
import dev.idempotent.idempotency.web.RequestReader.ReadRequest;
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
 * Gives each request to an annotated handler one run and one answer per key. Every other
 * request passes untouched. To be mapped to the dispatcher types REQUEST, ASYNC, ERROR
 * and FORWARD, as the last filter before the servlet: a replay bypasses what comes
 * behind.
 */
public final class IdempotencyFilter implements Filter {

	private static final int LARGE_BODY = 16 * 1024;

	private static final Duration MAX_WAIT_FOR_A_TURN = Duration.ofSeconds(10);

	private final ConcurrencyLimit turns = new ConcurrencyLimit(Runtime.getRuntime().availableProcessors(),
			MAX_WAIT_FOR_A_TURN);

	private final IdempotencyGuard guard;

	private final IdempotentOperations operations;

	private final RequestKeys keys;

	private final RequestReader reader;

	private final ResponsePolicy responsePolicy;

	private final Duration waitTimeout;

	private final CommitFailures commitFailures;

	/**
	 * Creates the filter.
	 * @param guard keeps the keys
	 * @param operations knows the annotated handlers
	 * @param keys finds the key of a request
	 * @param maxRequestBody the longest request body that is taken, in bytes
	 * @param responsePolicy says which answers are stored
	 * @param waitTimeout how long a duplicate waits under {@link OnPending#WAIT}
	 * @param exceptionResolver lets the application answer a failed commit; asked for
	 * when it is needed
	 */
	public IdempotencyFilter(IdempotencyGuard guard, IdempotentOperations operations, RequestKeys keys,
			int maxRequestBody, ResponsePolicy responsePolicy, Duration waitTimeout,
			Supplier<HandlerExceptionResolver> exceptionResolver) {
		this.guard = guard;
		this.operations = operations;
		this.keys = keys;
		this.reader = new RequestReader(maxRequestBody);
		this.responsePolicy = responsePolicy;
		this.waitTimeout = waitTimeout;
		this.commitFailures = new CommitFailures(exceptionResolver);
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request.getDispatcherType() == DispatcherType.INCLUDE) {
			// Jetty maps a filter of all servlets to every type of dispatch.
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
			claimAndRun(target, http, (HttpServletResponse) response, chain);
		}
		else {
			HandlerEntryAdvisor.passed(request);
			chain.doFilter(request, response);
		}
	}

	private @Nullable Target targetOf(HttpServletRequest request) {
		return (request.getDispatcherType() == DispatcherType.REQUEST) ? this.operations.find(request) : null;
	}

	private void claimAndRun(Target target, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		AnswerWriter answer = new AnswerWriter(request, response, target.cors());
		ClaimedRequest claimed;
		try {
			claimed = claim(target, request);
		}
		catch (RefusedRequestException ex) {
			answer.refused(ex);
			return;
		}
		catch (IdempotencyStoreException ex) {
			answer.notClaimed(ex);
			return;
		}
		if (claimed.claim().isAcquired()) {
			claimed.run().begin(claimed.request(), response, chain);
		}
		else {
			answer.notAcquired(claimed.claim(), target.operation().key() != null);
		}
	}

	private ClaimedRequest claim(Target target, HttpServletRequest request) throws IOException {
		ReadRequest read = this.reader.read(request);
		IdempotentOperation operation = target.operation();
		Identity identity = identify(operation, read);
		return (operation.transactions() == null) ? claimByLease(target, read, identity)
				: claimInTransaction(target, operation.transactions(), read, identity);
	}

	private ClaimedRequest claimByLease(Target target, ReadRequest read, Identity identity) {
		IdempotentOperation operation = target.operation();
		Claimant claimant = this.guard.claimant(identity.key(), identity.fingerprint(), operation.terms().lease(),
				operation.terms().retention());
		Claim claim = claim(operation, claimant);
		return new ClaimedRequest(read.request(), claim,
				new LeaseHandlerRun(claimant, target.entryIsNoted(), this.responsePolicy));
	}

	private ClaimedRequest claimInTransaction(Target target, IdempotencyTransactions transactions, ReadRequest read,
			Identity identity) {
		IdempotentOperation operation = target.operation();
		TransactionalClaimant claimant = this.guard.claimant(identity.key(), identity.fingerprint(),
				operation.terms().lease(), operation.terms().retention(), transactions);
		Claim claim = claim(operation, claimant);
		return new ClaimedRequest(read.request(), claim, new TransactionalHandlerRun(claimant, target.entryIsNoted(),
				this.responsePolicy, this.commitFailures, target.cors()));
	}

	private Claim claim(IdempotentOperation operation, Claimant claimant) {
		return operation.terms().waits() ? claimant.claimOrWait(this.waitTimeout) : claimant.claim();
	}

	private Identity identify(IdempotentOperation operation, ReadRequest read) {
		Supplier<Identity> identity = () -> {
			Fingerprint fingerprint = RequestFingerprinter.fingerprint(read.request(), read.content(),
					operation.ignored());
			return new Identity(this.keys.resolve(operation, read, fingerprint), fingerprint);
		};
		return (read.body().length > LARGE_BODY) ? this.turns.take(identity) : identity.get();
	}

	private record Identity(IdempotencyKey key, Fingerprint fingerprint) {
	}

	private record ClaimedRequest(HttpServletRequest request, Claim claim, HandlerRun run) {
	}

}
