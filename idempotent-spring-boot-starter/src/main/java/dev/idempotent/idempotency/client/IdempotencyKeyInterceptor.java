package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.util.List;
import java.util.Set;

import dev.idempotent.idempotency.DerivedKey;
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
 * run are left unchanged.
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
		NormalizedUrl url = (run != null && takesKey(request)) ? NormalizedUrl.of(request.getURI()) : null;
		if (run == null || url == null || this.targets.stream().noneMatch((target) -> target.matches(url))) {
			return execution.execute(request, body);
		}
		DerivedKey key = run.derive(request.getMethod() + " " + url, RequestFingerprint.of(request, body));
		HttpRequest keyed = new KeyedRequest(request, key.value(), run.cancels());
		return new PendingCall(key).send(() -> execution.execute(keyed, body));
	}

	private static boolean takesKey(HttpRequest request) {
		return !SAFE_METHODS.contains(request.getMethod()) && !request.getHeaders().containsHeader(KeyedRequest.HEADER);
	}

}
