package dev.idempotent.benchmark;

import java.util.Arrays;

import org.springframework.util.Assert;

/**
 * Numbers that were measured, in the order of their size.
 */
public final class Samples {

	private final double[] sorted;

	private Samples(double[] sorted) {
		this.sorted = sorted;
	}

	/**
	 * Sorts numbers.
	 * @param values at least one
	 * @return the samples
	 */
	public static Samples of(double... values) {
		Assert.state(values.length > 0, "Nothing was measured");
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		return new Samples(sorted);
	}

	/**
	 * The largest.
	 * @return the last
	 */
	public double max() {
		return this.sorted[this.sorted.length - 1];
	}

	/**
	 * The one in the middle, or the mean of the two in the middle.
	 * @return the median
	 */
	public double median() {
		int middle = this.sorted.length / 2;
		return (this.sorted.length % 2 == 1) ? this.sorted[middle]
				: (this.sorted[middle - 1] + this.sorted[middle]) / 2;
	}

	/**
	 * The smallest that is not below a share of all (nearest rank).
	 * @param share above 0 and at most 1
	 * @return one of the samples
	 */
	public double percentile(double share) {
		return this.sorted[(int) Math.ceil(share * this.sorted.length) - 1];
	}

}
