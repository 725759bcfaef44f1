package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.CallAttempt;
import dev.idempotent.idempotency.client.PropagationTargets.Resource;
import org.jspecify.annotations.Nullable;
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
 * the outcome of a step of a saga.
 */
public final class IdempotencyKeyInterceptor implements ClientHttpRequestInterceptor {

	private static final String CANCELS_HEADER = "Idempotency-Cancels";

	private final PropagationTargets targets;

	/**
	 * Creates the interceptor.
	 * @param targets the only services that keys are sent to
	 */
	public IdempotencyKeyInterceptor(PropagationTargets targets) {
		this.targets = targets;
	}

	@Override
	public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
			throws IOException {
		IdempotencyContext run = IdempotencyContext.current();
		if (run == null) {
			return execution.execute(request, body);
		}
		CallAttempt attempt = begin(run, request, body);
		String key = attempt.key();
		return PendingCall.send(attempt, (key != null) ? withKey(request, key, run.cancels()) : request, body,
				execution);
	}

	private CallAttempt begin(IdempotencyContext run, HttpRequest request, byte[] body) {
		Resource resource = this.targets.find(request.getURI());
		Fingerprint fingerprint = fingerprint(request, resource, body);
		if (PendingCall.isSafe(request.getMethod()) || request.getHeaders().containsHeader(PendingCall.KEY_HEADER)) {
			return run.observe(fingerprint);
		}
		return (resource != null)
				? run.derive(resource.target(), request.getMethod() + " " + resource.path(), fingerprint)
				: run.observeKeyless(fingerprint);
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
