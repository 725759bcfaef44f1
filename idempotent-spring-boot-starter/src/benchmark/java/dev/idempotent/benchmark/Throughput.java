package dev.idempotent.benchmark;

/**
 * How much was done in how long.
 *
 * @param count what was done
 * @param nanos how long it took
 */
public record Throughput(long count, long nanos) {

	/**
	 * How much was done in a second.
	 * @return the mean
	 */
	public double perSecond() {
		return this.count * 1e9 / this.nanos;
	}

}
