package dev.idempotent.idempotency;

/**
 * The source of a request's idempotency key.
 */
public enum KeySource {

	/**
	 * The {@code Idempotency-Key} header; a request without it gets {@code 400}.
	 */
	HEADER,

	/**
	 * The header if it was sent, otherwise the fingerprint of the request.
	 */
	HEADER_OR_FINGERPRINT,

	/**
	 * The fingerprint of the request: equal requests are retries for the whole retention,
	 * even where both were intended. For double clicks on forms without keys.
	 */
	FINGERPRINT,

	/**
	 * A one-time token that {@code OneTimeTokens} has issued for
	 * {@link Idempotent#name()}, in the header or in the form field {@code _idempotency}:
	 * what a page that was rendered once sends is processed once. Requires a name and
	 * {@code idempotent.token.secrets}.
	 */
	TOKEN

}
