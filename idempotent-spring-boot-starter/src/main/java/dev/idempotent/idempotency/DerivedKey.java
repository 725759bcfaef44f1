package dev.idempotent.idempotency;

/**
 * The key of one call to another service, derived from the key of the current run. An
 * equal call later in the run gets another key, unless {@link #markUnanswered()} was
 * called.
 */
public final class DerivedKey {

	private final String value;

	private final Runnable succeeded;

	private final Runnable unanswered;

	DerivedKey(String value, Runnable succeeded, Runnable unanswered) {
		this.value = value;
		this.succeeded = succeeded;
		this.unanswered = unanswered;
	}

	/**
	 * The value to send as idempotency key.
	 * @return 64 lower-case hexadecimal digits
	 */
	public String value() {
		return this.value;
	}

	/**
	 * Marks the call as successful: the service reported that it was done.
	 */
	public void markSucceeded() {
		this.succeeded.run();
	}

	/**
	 * Marks the call as unanswered: it failed, or the service asked for a retry. The next
	 * equal call is its retry and gets the same key.
	 */
	public void markUnanswered() {
		this.unanswered.run();
	}

}
