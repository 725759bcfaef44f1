package dev.idempotent.benchmark;

/**
 * One of those that are measured side by side. It is idle until a scenario uses it, and
 * again afterwards, so that it does not slow the others.
 */
public interface Contender extends AutoCloseable {

	/**
	 * What the table calls it.
	 * @return a short name
	 */
	String name();

	@Override
	void close();

}
