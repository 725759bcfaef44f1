package dev.idempotent.benchmark;

/**
 * Something that is measured, for all contenders one after the other.
 */
public interface Scenario {

	/**
	 * What the table calls it.
	 * @return a short name
	 */
	String name();

	/**
	 * Measures once.
	 * @param number of the round, by which the order of the contenders changes
	 * @param report takes the figures
	 */
	void round(int number, Report report);

}
