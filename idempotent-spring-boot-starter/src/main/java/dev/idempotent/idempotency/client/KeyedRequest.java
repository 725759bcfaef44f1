package dev.idempotent.idempotency.client;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.support.HttpRequestWrapper;

/**
 * A request with a derived key. The key is kept out of the request that it wraps: an
 * interceptor further out may send that one again, as a retry or as another call.
 */
final class KeyedRequest extends HttpRequestWrapper {

	private final HttpHeaders headers;

	KeyedRequest(HttpRequest request, String key) {
		super(request);
		this.headers = HttpHeaders.copyOf(request.getHeaders());
		this.headers.set(IdempotencyKeyInterceptor.HEADER, key);
	}

	@Override
	public HttpHeaders getHeaders() {
		return this.headers;
	}

}
