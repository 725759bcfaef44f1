package dev.idempotent.benchmark.saga;

import dev.idempotent.benchmark.Contender;

/**
 * Something that does three steps.
 */
interface SagaContender extends Contender {

	/**
	 * Runs three steps, each of which inserts a row in a transaction.
	 */
	void transactions();

	/**
	 * Runs three steps that do nothing, and whose outcomes are recorded.
	 */
	void calls();

	/**
	 * Removes what was written, and prepares the next measurement.
	 */
	void tidy();

}
