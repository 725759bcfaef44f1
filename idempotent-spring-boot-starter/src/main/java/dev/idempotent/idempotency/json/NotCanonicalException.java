package dev.idempotent.idempotency.json;

/**
 * A document has no canonical form.
 */
final class NotCanonicalException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	NotCanonicalException() {
		// An invalid document must not cost a stack trace.
		super(null, null, false, false);
	}

}
