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
 * Keeps the entries that are being worked on from being taken over, however long that
 * takes.
 */
final class Renewal implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private final List<Worker> workers;

	private final DedicatedRedisConnections connections;

	private @Nullable DedicatedRedisConnection connection;

	Renewal(List<Worker> workers, DedicatedRedisConnections connections) {
		this.workers = workers;
		this.connections = connections;
	}

	/**
	 * Renews what every worker has in hand. A stream that cannot be served, because its
	 * group is gone or its shard is away, is left out after its first failure and does
	 * not cost the other streams their renewal.
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
			// The worker reports it, and another one may take over after each such
			// failure.
			logger.debug("The entries in hand of stream {} were not renewed", worker.stream(), ex);
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
