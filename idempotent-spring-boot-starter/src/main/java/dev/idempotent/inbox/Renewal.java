package dev.idempotent.inbox;

import java.util.List;

import dev.idempotent.lettuce.OwnConnection;
import dev.idempotent.lettuce.OwnConnections;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the entries that are being worked on from being taken over, however long that
 * takes.
 */
final class Renewal implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamInbox.class);

	private final List<Worker> workers;

	private final OwnConnections connections;

	private @Nullable OwnConnection connection;

	Renewal(List<Worker> workers, OwnConnections connections) {
		this.workers = workers;
		this.connections = connections;
	}

	@Override
	public void run() {
		try {
			if (this.connection == null || !this.connection.isOpen()) {
				this.connection = this.connections.connect();
			}
			for (Worker worker : this.workers) {
				worker.renew(this.connection);
			}
		}
		catch (RuntimeException ex) {
			// The workers say so, and each time that is not enough another may take over.
			logger.debug("Entries in hand were not renewed", ex);
			discard();
		}
	}

	void discard() {
		if (this.connection != null) {
			this.connections.discard(this.connection);
			this.connection = null;
		}
	}

}
