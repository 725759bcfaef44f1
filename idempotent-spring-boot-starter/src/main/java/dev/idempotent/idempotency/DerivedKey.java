package dev.idempotent.idempotency;

/**
 * The key of one call to another service, derived from the key under which it is made. To
 * be told if the call brings no answer; an equal call is another one otherwise.
 */
public final class DerivedKey {

	private final String value;

	private final Runnable unanswered;

	DerivedKey(String value, Runnable unanswered) {
		this.value = value;
		this.unanswered = unanswered;
	}

	/**
	 * What is sent as the idempotency key.
	 * @return 64 lower-case hexadecimal digits
	 */
	public String value() {
		return this.value;
	}

	/**
	 * Notes that the call has brought no answer that would be repeated: it failed, or was
	 * told to come again. The next equal call is its retry, under the same key.
	 */
	public void unanswered() {
		this.unanswered.run();
	}

}
