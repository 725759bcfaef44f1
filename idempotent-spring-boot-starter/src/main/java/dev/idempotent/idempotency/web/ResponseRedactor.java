package dev.idempotent.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Decides what of a response is stored, and so replayed. All beans of this type are
 * applied in their order. The response to the first request is not changed.
 */
@FunctionalInterface
public interface ResponseRedactor {

	/**
	 * Redacts a response before it is stored, under {@code Guarantee.TRANSACTION} before
	 * the commit. If it throws, the response is not kept. Not called for responses that
	 * are too large to be stored or are streamed.
	 * @param request the request
	 * @param response what would be stored, without the headers that are never stored
	 * @return what to store instead, with the same status; or {@code null} to keep
	 * nothing: a retry gets 409 and does not run again
	 */
	@Nullable ReplayableResponse redact(HttpServletRequest request, ReplayableResponse response);

}
