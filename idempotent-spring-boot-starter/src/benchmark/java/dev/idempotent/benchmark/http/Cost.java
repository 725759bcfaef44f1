package dev.idempotent.benchmark.http;

import dev.idempotent.benchmark.http.load.LoadResult;

/**
 * What requests cost.
 *
 * @param result how many there were in how long
 * @param usage what they used together
 */
record Cost(LoadResult result, Usage usage) {

	double perSecond() {
		return this.result.throughput().perSecond();
	}

	double applicationMicros() {
		return each(this.usage.applicationMicros());
	}

	double redisMicros() {
		return each(this.usage.redisMicros());
	}

	double postgresMicros() {
		return each(this.usage.postgresMicros());
	}

	/**
	 * The processor time of application and servers, without the clients.
	 */
	double micros() {
		return applicationMicros() + redisMicros() + postgresMicros();
	}

	double allocatedBytes() {
		return each((double) this.usage.allocatedBytes());
	}

	double redisCommands() {
		return each((double) this.usage.redisCommands());
	}

	/**
	 * With one client, each call to Redis is one read; the benchmark itself makes the
	 * last call.
	 */
	double redisRoundTrips() {
		return each((double) this.usage.redisReads() - 1);
	}

	private double each(double sum) {
		return sum / this.result.count();
	}

}
