package dev.idempotent.idempotency;

/**
 * Where a request's idempotency key comes from.
 */
public enum KeySource {

	/**
	 * The {@code Idempotency-Key} header; a request without it is answered 400.
	 */
	HEADER,

	/**
	 * The header where it was sent, the request's fingerprint where not.
	 */
	HEADER_OR_FINGERPRINT,

	/**
	 * The fingerprint of the request: equal requests are one for the whole retention,
	 * also where two were meant. For the double click on a form without keys.
	 */
	FINGERPRINT

}
