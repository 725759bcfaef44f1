package dev.idempotent.benchmark.http;

/**
 * What has been used up to now.
 *
 * @param applicationMicros the processor time of the application
 * @param redisMicros the processor time of Redis
 * @param postgresMicros the processor time of PostgreSQL
 * @param allocatedBytes what the application has allocated
 * @param receipts how often a handler ran
 * @param redisCommands what Redis ran, in scripts, too
 * @param redisReads how often Redis read from a connection
 */
record Usage(double applicationMicros, double redisMicros, double postgresMicros, long allocatedBytes, long receipts,
		long redisCommands, long redisReads) {

	Usage since(Usage before) {
		return new Usage(this.applicationMicros - before.applicationMicros, this.redisMicros - before.redisMicros,
				this.postgresMicros - before.postgresMicros, this.allocatedBytes - before.allocatedBytes,
				this.receipts - before.receipts, this.redisCommands - before.redisCommands,
				this.redisReads - before.redisReads);
	}

}
