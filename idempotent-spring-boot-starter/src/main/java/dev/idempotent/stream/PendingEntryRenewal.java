package dev.idempotent.stream;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import dev.idempotent.lettuce.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resets the idle time of entries that are being processed, so that no other consumer
 * claims them, however long processing takes.
 */
final class PendingEntryRenewal implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(PendingEntryRenewal.class);

	private final List<Worker> workers;

	private final DedicatedRedisConnections connections;

	private @Nullable DedicatedRedisConnection connection;

	PendingEntryRenewal(List<Worker> workers, DedicatedRedisConnections connections) {
		this.workers = workers;
		this.connections = connections;
	}

	/**
	 * Renews the current entry of every worker. A stream whose group is missing or whose
	 * shard is unavailable is skipped after its first failure, so that it does not delay
	 * the other streams.
	 */
	@Override
	public void run() {
		Set<String> failed = new HashSet<>();
		for (Worker worker : this.workers) {
			if (!failed.contains(worker.stream()) && !isRenewed(worker)) {
				failed.add(worker.stream());
			}
		}
	}

	private boolean isRenewed(Worker worker) {
		try {
			if (this.connection == null || !this.connection.isOpen()) {
				this.connection = this.connections.connect();
			}
			worker.renew(this.connection);
			return true;
		}
		catch (RuntimeException | Error ex) {
			// The worker itself reports the outage.
			logger.debug("The current entries of stream {} were not renewed", worker.stream(), ex);
			discard();
			return false;
		}
	}

	void discard() {
		if (this.connection != null) {
			this.connections.discard(this.connection);
			this.connection = null;
		}
	}

}
