package dev.idempotent.benchmark.outbox;

/**
 * The queue under {@link ClaimScenario}. Each verb commits before it returns.
 */
interface ClaimProbe {

	void empty();

	void addDue(int rows);

	void addWaiting(int rows);

	int claim(int limit);

	void deleteClaimed();

}
