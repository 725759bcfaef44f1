package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.outbox.jdbc.JdbcOutboxStore;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;

/**
 * Delivers while the application runs. An application without the tables does not use the
 * outbox: nothing is looked for until it does.
 */
final class OutboxRelayLifecycle implements SmartLifecycle {

	/**
	 * After whatever appends events has stopped, and before the connections to brokers
	 * do.
	 */
	private static final int PHASE = 1024;

	private static final Logger logger = LoggerFactory.getLogger(OutboxRelayLifecycle.class);

	private final OutboxRelay relay;

	private final JdbcOutboxStore store;

	OutboxRelayLifecycle(OutboxRelay relay, JdbcOutboxStore store) {
		this.relay = relay;
		this.store = store;
	}

	@Override
	public void start() {
		if (hasTables()) {
			this.store.requireOneDatabase();
			this.relay.start();
		}
		else {
			logger.debug("The outbox rests until it is used: {}", this.store.missingTables());
		}
	}

	@Override
	public void stop() {
		this.relay.stop();
	}

	@Override
	public boolean isRunning() {
		return this.relay.isRunning();
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * A database that is down now may have them.
	 */
	private boolean hasTables() {
		try {
			return this.store.hasTables();
		}
		catch (DataAccessException ex) {
			return true;
		}
	}

}
