package dev.idempotent.idempotency;

/**
 * Which responses commit the work of a web handler under {@link Guarantee#TRANSACTION}
 * that has returned normally. An exception always rolls it back.
 */
public enum CommitOn {

	/**
	 * Every response with a status below 500, as Spring commits whatever a method
	 * returns: a declined payment that is returned with 402 or 409 leaves its record, and
	 * the response is replayed. Not those that ask for the same request again, with
	 * credentials, under a condition or later: 401, 408, 412, 425, 428 and 429.
	 */
	RETURN,

	/**
	 * A response with a status below 400. Work that is refused with another one is rolled
	 * back.
	 */
	SUCCESS

}
