package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A response of another service to a call of an idempotent run, for those who decide what
 * proves that the service itself has answered, and not a gateway in front of it.
 */
public interface ServiceResponse {

	/**
	 * The status.
	 * @return the HTTP status, such as 201
	 */
	int status();

	/**
	 * The first value of a header.
	 * @param name the name of the header
	 * @return its value, or {@code null} if the response does not have it
	 */
	@Nullable String header(String name);

	/**
	 * The body as text. It is kept in memory.
	 * @return the body, empty without one
	 */
	String body();

	/**
	 * Whether the service has sent its {@linkplain IdempotencyReceipt receipt} for the
	 * key of the request.
	 * @return whether a service with this starter, or one that sends receipts, has
	 * answered
	 */
	boolean hasReceipt();

}
