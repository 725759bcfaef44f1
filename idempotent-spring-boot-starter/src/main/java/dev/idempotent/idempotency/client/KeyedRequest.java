package dev.idempotent.idempotency.client;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpRequest;
import org.springframework.http.client.support.HttpRequestWrapper;

/**
 * A request with a derived key. The wrapped request is not changed, because an outer
 * interceptor may send it again, as a retry or as another call.
 */
final class KeyedRequest extends HttpRequestWrapper {

	static final String HEADER = "Idempotency-Key";

	static final String CANCELS_HEADER = "Idempotency-Cancels";

	private final HttpHeaders headers;

	KeyedRequest(HttpRequest request, String key, @Nullable String cancels) {
		super(request);
		this.headers = HttpHeaders.copyOf(request.getHeaders());
		this.headers.set(HEADER, key);
		if (cancels != null) {
			this.headers.set(CANCELS_HEADER, cancels);
		}
	}

	@Override
	public HttpHeaders getHeaders() {
		return this.headers;
	}

}
