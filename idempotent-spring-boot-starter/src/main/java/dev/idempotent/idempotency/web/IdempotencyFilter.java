package dev.idempotent.idempotency.web;

import java.io.IOException;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Claimant;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyGuard;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.web.IdempotentOperations.Target;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives each request to an annotated handler one run and one answer per key. Every other
 * request passes untouched. To be mapped to the dispatcher types REQUEST, ASYNC, ERROR
 * and FORWARD, after the security filters.
 */
public final class IdempotencyFilter implements Filter {

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyFilter.class);

	private final IdempotencyGuard guard;

	private final IdempotentOperations operations;

	private final RequestKeys keys;

	private final int maxRequestBody;

	private final ResponsePolicy responsePolicy;

	/**
	 * Creates the filter.
	 * @param guard keeps the keys
	 * @param operations knows the annotated handlers
	 * @param keys finds the key of a request
	 * @param maxRequestBody the longest request body that is taken, in bytes
	 * @param responsePolicy says which answers are stored
	 */
	public IdempotencyFilter(IdempotencyGuard guard, IdempotentOperations operations, RequestKeys keys,
			int maxRequestBody, ResponsePolicy responsePolicy) {
		this.guard = guard;
		this.operations = operations;
		this.keys = keys;
		this.maxRequestBody = maxRequestBody;
		this.responsePolicy = responsePolicy;
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		HttpServletRequest http = (HttpServletRequest) request;
		Exchange open = Exchange.of(request);
		Target target = (open == null) ? targetOf(http) : null;
		if (open != null) {
			open.dispatch(http, (HttpServletResponse) response, chain);
		}
		else if (target != null) {
			claimAndRun(target, http, (HttpServletResponse) response, chain);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private @Nullable Target targetOf(HttpServletRequest request) {
		return (request.getDispatcherType() == DispatcherType.REQUEST) ? this.operations.find(request) : null;
	}

	private void claimAndRun(Target target, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		Bid bid = bid(target.operation(), request, response);
		if (bid == null) {
			return;
		}
		if (bid.claim() instanceof Claim.Acquired) {
			Exchange.begin(bid.request(), bid.claimant(), target.entryIsNoted(), this.responsePolicy)
				.dispatch(bid.request(), response, chain);
		}
		else {
			answer(bid.claim(), response);
		}
	}

	/**
	 * Claims the key of a request, or answers what is wrong with it.
	 */
	private @Nullable Bid bid(IdempotentOperation operation, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		try {
			BufferedRequest buffered = BufferedRequest.read(request, this.maxRequestBody);
			Fingerprint fingerprint = RequestFingerprinter.fingerprint(buffered, buffered.body());
			IdempotencyKey key = this.keys.resolve(operation, buffered, fingerprint);
			Claimant claimant = this.guard.claimant(key, fingerprint, operation.lease(), operation.retention());
			return new Bid(buffered, claimant, claimant.claim());
		}
		catch (RefusedRequestException ex) {
			ex.problem().send(response, ex.detail());
		}
		catch (IdempotencyStoreUnavailableException ex) {
			Problem.STORE_UNREACHABLE.sendRetryable(response, "Nothing was done. Send the request again.");
		}
		catch (IdempotencyStoreException ex) {
			logger.error("A request was refused because its idempotency key cannot be kept", ex);
			Problem.STORE_FAILED.send(response, "Nothing was done. The operator of this service has been told why.");
		}
		return null;
	}

	private static void answer(Claim claim, HttpServletResponse response) throws IOException {
		if (claim instanceof Claim.Completed completed) {
			replay(completed.response(), response);
		}
		else if (claim instanceof Claim.Pending) {
			Problem.IN_PROGRESS.sendRetryable(response,
					"The first request with this idempotency key is still running. Send it again in a moment.");
		}
		else {
			Problem.KEY_REUSED.send(response,
					"This idempotency key was sent with another request before. Send a new key with a new request.");
		}
	}

	private static void replay(StoredResponse stored, HttpServletResponse response) throws IOException {
		CapturedResponse captured = CapturedResponse.decode(stored);
		if (captured != null) {
			captured.replayTo(response);
		}
		else {
			Problem.RESPONSE_NOT_KEPT.send(response, "The first request with this idempotency key has been carried "
					+ "out, and its response was not kept. Do not send it again.");
		}
	}

	private record Bid(BufferedRequest request, Claimant claimant, Claim claim) {
	}

}
