package dev.idempotent.benchmark.http.load;

import java.util.Arrays;

import dev.idempotent.benchmark.Throughput;

/**
 * What the generator has measured.
 *
 * @param count how many responses there were, all of them right
 * @param nanos how long it took
 * @param p50 the median latency in microseconds; 0 without a rate
 * @param p99 the latency in microseconds that 1 % exceed
 * @param max the longest latency in microseconds
 */
public record LoadResult(long count, long nanos, long p50, long p99, long max) {

	/**
	 * Reads an answer of the generator.
	 * @param line the answer
	 * @return what it says
	 */
	public static LoadResult parse(String line) {
		long[] parts = Arrays.stream(line.split(" ", -1)).mapToLong(Long::parseLong).toArray();
		return new LoadResult(parts[0], parts[1], parts[2], parts[3], parts[4]);
	}

	/**
	 * The rate.
	 * @return all responses
	 */
	public Throughput throughput() {
		return new Throughput(this.count, this.nanos);
	}

	/**
	 * The line that says it.
	 */
	@Override
	public String toString() {
		return "%d %d %d %d %d".formatted(this.count, this.nanos, this.p50, this.p99, this.max);
	}

}
