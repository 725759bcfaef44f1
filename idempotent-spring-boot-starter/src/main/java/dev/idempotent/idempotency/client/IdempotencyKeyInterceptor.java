package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import dev.idempotent.idempotency.client.PropagationTargets.Resource;
import dev.idempotent.idempotency.client.TargetLocation.Url;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.support.HttpRequestWrapper;

/**
 * Sends a derived {@code Idempotency-Key} with each call that an idempotent run makes to
 * one of the targets: the same key for all attempts of a call, and a different one for
 * each call. Must be the first interceptor, so that the attempts of a retry interceptor
 * are one call. Safe methods, requests with a key of their own, and requests outside a
 * run are left unchanged. Records all calls of the run and their responses, which prove
 * the outcome of a step of a saga. Calls of services whose calls may be repeated without
 * a key prove nothing.
 */
public final class IdempotencyKeyInterceptor implements ClientHttpRequestInterceptor {

	private static final String CANCELS_HEADER = "Idempotency-Cancels";

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyKeyInterceptor.class);

	/**
	 * More of them are not remembered, and not logged.
	 */
	private static final int LOGGED_PLACES = 100;

	private final PropagationTargets targets;

	/**
	 * The only service that is called, wherever it is; {@code null} if the URL decides.
	 */
	private final @Nullable String service;

	/**
	 * Whether that service is known to honour keys, whether or not it is a target.
	 */
	private final boolean honoursKeys;

	/**
	 * The places that a warning has named.
	 */
	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the interceptor.
	 * @param targets the only services that keys are sent to
	 */
	public IdempotencyKeyInterceptor(PropagationTargets targets) {
		this(targets, null, false);
	}

	private IdempotencyKeyInterceptor(PropagationTargets targets, @Nullable String service, boolean honoursKeys) {
		this.targets = targets;
		this.service = service;
		this.honoursKeys = honoursKeys;
	}

	/**
	 * Returns the interceptor of a client that calls one service only, at whatever URLs:
	 * all its unsafe calls in a run carry a key.
	 * @param name the name of the service, which may be one of the targets
	 * @return the interceptor
	 * @throws IllegalArgumentException if the name is not valid for a target
	 */
	public IdempotencyKeyInterceptor forService(String name) {
		return new IdempotencyKeyInterceptor(this.targets, PropagationTargets.canonical(name), false);
	}

	/**
	 * Returns the interceptor of a client that calls one service only, which honours
	 * keys.
	 */
	IdempotencyKeyInterceptor honouringKeys() {
		return new IdempotencyKeyInterceptor(this.targets, this.service, true);
	}

	/**
	 * Whether keys are sent to some service.
	 * @return whether there is a target
	 */
	public boolean hasTargets() {
		return !this.targets.isEmpty();
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		IdempotencyContext run = IdempotencyContext.current();
		if (run == null) {
			return execution.execute(request, body);
		}
		Resource resource = find(request.getURI());
		if (resource != null && resource.isRepeatable()) {
			run.observeRepeatable();
			return execution.execute(request, body);
		}
		CallAttempt attempt = begin(run, request, resource, body);
		String key = attempt.key();
		return PendingCall.send(attempt, run.criteria(),
				this.honoursKeys || (resource != null && resource.honoursKeys()),
				(key != null) ? withKey(request, key, run.cancels()) : request, body, execution);
	}

	private @Nullable Resource find(URI url) {
		return (this.service != null) ? this.targets.find(url, this.service) : this.targets.find(url);
	}

	private CallAttempt begin(IdempotencyContext run, HttpRequest request, @Nullable Resource resource, byte[] body) {
		Fingerprint fingerprint = fingerprint(request, resource, body);
		if (PendingCall.isSafe(request.getMethod())) {
			return run.observeSafe(fingerprint);
		}
		if (request.getHeaders().containsHeader(PendingCall.KEY_HEADER)) {
			return run.observe(fingerprint);
		}
		return (resource != null)
				? run.derive(resource.target(), request.getMethod() + " " + resource.path(), fingerprint)
				: beginKeyless(run, request, fingerprint);
	}

	/**
	 * Warns, once for each place, of a call without a key that may be one that was made
	 * with a key. The application may ignore that it was not sent.
	 */
	private CallAttempt beginKeyless(IdempotencyContext run, HttpRequest request, Fingerprint fingerprint) {
		try {
			if (run.hasUnansweredCall() && !run.isSingleCall()) {
				warn(request, "is sent without a key, although a call with a key has an unknown outcome: if it is that "
						+ "call at another location, its service cannot recognize it");
			}
			return run.observeKeyless(fingerprint);
		}
		catch (IllegalStateException ex) {
			warn(request, "was not sent, because it would carry no key, and may be a call of this saga whose outcome "
					+ "is unknown");
			throw ex;
		}
	}

	private void warn(HttpRequest request, String what) {
		Url url = TargetLocation.normalize(request.getURI());
		String place = (url != null) ? url.origin() : "a URL without a host";
		if (this.warned.size() < LOGGED_PLACES && this.warned.add(place)) {
			logger.warn(
					"A {} request to {}, which belongs to no target, {}. List each location of a service under its name "
							+ "in idempotent.client.targets, and services whose calls may be repeated without a key, "
							+ "such as the request of a token, in idempotent.client.repeatable",
					request.getMethod(), place, what);
		}
	}

	/**
	 * The wrapped request is not changed, because an outer interceptor may send it again,
	 * as a retry or as another call.
	 */
	private static HttpRequest withKey(HttpRequest request, String key, @Nullable String cancels) {
		HttpHeaders headers = HttpHeaders.copyOf(request.getHeaders());
		headers.set(PendingCall.KEY_HEADER, key);
		if (cancels != null) {
			headers.set(CANCELS_HEADER, cancels);
		}
		return new HttpRequestWrapper(request) {

			@Override
			public HttpHeaders getHeaders() {
				return headers;
			}

		};
	}

	/**
	 * Distinguishes a retry of a call from another call. A retry may go to another
	 * location of the same target.
	 */
	private static Fingerprint fingerprint(HttpRequest request, @Nullable Resource resource, byte[] body) {
		URI url = request.getURI();
		String boundary = boundary(request.getHeaders());
		return Fingerprint
			.of(List.of(bytes(request.getMethod().name()), bytes((resource != null) ? resource.target() : ""),
					bytes((resource != null) ? resource.path() + "?" + url.getRawQuery() : url.toString()),
					(boundary != null) ? without(boundary, body) : body,
					bytes(String.valueOf(request.getHeaders().getFirst(PendingCall.KEY_HEADER)))));
	}

	/**
	 * Spring generates another boundary for each attempt.
	 */
	private static @Nullable String boundary(HttpHeaders headers) {
		try {
			MediaType type = headers.getContentType();
			String boundary = (type != null && type.getType().equals("multipart")) ? type.getParameter("boundary")
					: null;
			return (boundary != null) ? boundary.replace("\"", "") : null;
		}
		catch (InvalidMediaTypeException ex) {
			return null;
		}
	}

	private static byte[] without(String boundary, byte[] body) {
		return new String(body, StandardCharsets.ISO_8859_1).replace("--" + boundary, "--")
			.getBytes(StandardCharsets.ISO_8859_1);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
