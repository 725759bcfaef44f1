package dev.idempotent.benchmark.http.load;

/**
 * What the keys of the requests are, and so what the responses must be.
 */
public enum Traffic {

	/**
	 * Each request has a key of its own and runs.
	 */
	FIRST(200, false),

	/**
	 * All have the key of a completed request, and get its response.
	 */
	REPLAY(200, true),

	/**
	 * All have the key of a request that is still running, and are refused.
	 */
	PENDING(409, false);

	private final int status;

	private final boolean replayed;

	Traffic(int status, boolean replayed) {
		this.status = status;
		this.replayed = replayed;
	}

	int status() {
		return this.status;
	}

	boolean replayed() {
		return this.replayed;
	}

}
