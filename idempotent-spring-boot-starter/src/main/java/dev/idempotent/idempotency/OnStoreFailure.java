package dev.idempotent.idempotency;

/**
 * What becomes of a request whose key cannot be claimed because the store is unreachable.
 */
public enum OnStoreFailure {

	/**
	 * The request is refused and can be sent again: nothing runs unprotected.
	 */
	REJECT,

	/**
	 * The request runs, and is protected from the moment at which the store is back.
	 */
	PROCEED

}
