package dev.idempotent.idempotency.web;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * A response as it is stored and replayed.
 *
 * @param status the status, such as 201
 * @param headers the headers, with {@code Content-Type}, and {@code Location} for a
 * redirect
 * @param body the body before compression; empty if there is none
 * @param errorMessage the message of an error that was sent with {@code sendError} and is
 * handled by another filter, or {@code null}
 */
@SuppressWarnings("ArrayRecordComponent")
public record ReplayableResponse(int status, HttpHeaders headers, byte[] body, @Nullable String errorMessage) {

	/**
	 * Returns a copy with another body.
	 * @param newBody the body
	 * @return a new response with the same headers
	 */
	public ReplayableResponse withBody(byte[] newBody) {
		return new ReplayableResponse(this.status, this.headers, newBody, this.errorMessage);
	}

	/**
	 * Returns a copy with other headers.
	 * @param newHeaders the headers
	 * @return a new response with the same body
	 */
	public ReplayableResponse withHeaders(HttpHeaders newHeaders) {
		return new ReplayableResponse(this.status, newHeaders, this.body, this.errorMessage);
	}

}
