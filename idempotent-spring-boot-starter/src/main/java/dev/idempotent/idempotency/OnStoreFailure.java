package dev.idempotent.idempotency;

/**
 * How to handle a request whose key cannot be claimed because the store is unreachable.
 */
public enum OnStoreFailure {

	/**
	 * The request is refused and can be retried: nothing runs unprotected.
	 */
	REJECT,

	/**
	 * The request runs, and is protected as soon as the store is reachable again.
	 */
	PROCEED

}
