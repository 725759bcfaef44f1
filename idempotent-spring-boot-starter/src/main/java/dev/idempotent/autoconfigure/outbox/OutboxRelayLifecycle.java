package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.jdbc.DatabaseRequirements;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.handler.OutboxHandlers;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;

/**
 * Starts the relay if the outbox is on when the application has started. The relay of an
 * outbox that is switched on later, or whose tables are missing, starts with the first
 * committed event.
 */
final class OutboxRelayLifecycle implements SmartLifecycle {

	/**
	 * Stops after the beans that append events, and before the connections to brokers.
	 */
	private static final int PHASE = 1024;

	private static final Logger logger = LoggerFactory.getLogger(OutboxRelayLifecycle.class);

	private final OutboxActivation activation;

	private final ObjectProvider<OutboxRelay> relay;

	private final OutboxTableCheck tables;

	private final boolean ordered;

	private final OutboxTopics topics;

	private final OutboxHandlers handlers;

	private final HandlersOwner owner;

	private final @Nullable Boolean enabled;

	/**
	 * Creates the life cycle.
	 * @param ordered whether keys order events
	 * @param enabled {@code null} to run the relay if the outbox is on, {@code true} to
	 * switch the outbox on, {@code false} to run no relay
	 */
	OutboxRelayLifecycle(OutboxActivation activation, ObjectProvider<OutboxRelay> relay, OutboxTableCheck tables,
			boolean ordered, OutboxTopics topics, OutboxHandlers handlers, HandlersOwner owner,
			@Nullable Boolean enabled) {
		this.activation = activation;
		this.relay = relay;
		this.tables = tables;
		this.ordered = ordered;
		this.topics = topics;
		this.handlers = handlers;
		this.owner = owner;
		this.enabled = enabled;
	}

	@Override
	public void start() {
		if (Boolean.TRUE.equals(this.enabled)) {
			this.activation.activate("idempotent.outbox.relay.enabled is true");
		}
		this.activation.report(Boolean.FALSE.equals(this.enabled)
				? "without a relay in this process (idempotent.outbox.relay.enabled is false)"
				: "the relay delivers to " + receivers());
		boolean found = this.activation.isActive() && hasTables();
		if (!mayRun()) {
			// An outbox that is switched on later starts its relay with the first event.
			this.activation.whenActive(this::findOwner);
			return;
		}
		if (found) {
			this.tables.requireOneDatabase();
			findOwner();
			this.relay.getObject().start();
		}
		else if (Boolean.TRUE.equals(this.enabled) || this.tables.hasEventTable()) {
			throw this.tables.missing("The outbox relay could not deliver events: ");
		}
		else {
			logger.info("The outbox relay starts with the first event: {}", this.tables.missingTables());
		}
	}

	private void findOwner() {
		if (!Boolean.FALSE.equals(this.enabled) && this.handlers.all().isEmpty()) {
			this.owner.find();
		}
	}

	private String receivers() {
		int count = this.handlers.all().size();
		String handlers = count + ((count == 1) ? " handler" : " handlers");
		return (count == 0) ? this.topics.toString()
				: this.topics.publishers().isEmpty() ? handlers : this.topics + " and " + handlers;
	}

	@Override
	public void stop() {
		this.relay.getObject().stop();
	}

	@Override
	public boolean isRunning() {
		return mayRun() && this.relay.getObject().isRunning();
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	private boolean mayRun() {
		return this.activation.isActive() && !Boolean.FALSE.equals(this.enabled);
	}

	/**
	 * An unreachable database may have the tables.
	 */
	private boolean hasTables() {
		try {
			if (!this.tables.hasTables()) {
				return false;
			}
			if (this.ordered) {
				this.tables.requireIncreasingRows();
			}
			if (mayRun()) {
				this.tables.requirePrivilegesAtStart();
			}
		}
		catch (DataAccessException ex) {
			DatabaseRequirements.warnOfSilence("the tables of the outbox", ex);
		}
		return true;
	}

}
