package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.CallAttempt;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Sends a derived {@code Idempotency-Key} with each call that an idempotent run makes to
 * one of the targets: the same key for all attempts of a call, and a different one for
 * each call. Must be the first interceptor, so that the attempts of a retry interceptor
 * are one call. Safe methods, requests with a key of their own, and requests outside a
 * run are left unchanged. Records all calls of the run and their responses, which prove
 * the outcome of a step of a saga.
 */
public final class IdempotencyKeyInterceptor implements ClientHttpRequestInterceptor {

	private static final Set<HttpMethod> SAFE_METHODS = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS,
			HttpMethod.TRACE);

	private final List<PropagationTarget> targets;

	/**
	 * Creates the interceptor.
	 * @param targets the only URLs that keys are sent to
	 */
	public IdempotencyKeyInterceptor(List<PropagationTarget> targets) {
		this.targets = List.copyOf(targets);
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		IdempotencyContext run = IdempotencyContext.current();
		if (run == null) {
			return execution.execute(request, body);
		}
		CallAttempt attempt = begin(run, request, RequestFingerprint.of(request, body));
		String key = attempt.key();
		return new PendingCall(attempt).send((key != null) ? new KeyedRequest(request, key, run.cancels()) : request,
				body, execution);
	}

	private CallAttempt begin(IdempotencyContext run, HttpRequest request, Fingerprint fingerprint) {
		NormalizedUrl url = takesKey(request) ? NormalizedUrl.of(request.getURI()) : null;
		return (url != null && this.targets.stream().anyMatch((target) -> target.matches(url)))
				? run.derive(request.getMethod() + " " + url, fingerprint) : run.observe(fingerprint);
	}

	private static boolean takesKey(HttpRequest request) {
		return !isSafe(request.getMethod()) && !request.getHeaders().containsHeader(KeyedRequest.HEADER);
	}

	static boolean isSafe(HttpMethod method) {
		return SAFE_METHODS.contains(method);
	}

}
