package dev.idempotent.autoconfigure.outbox;

import java.util.Map;
import java.util.Set;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.autoconfigure.DeploymentTable;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.DatabaseRequirements;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * The application whose handlers' events are in the tables of the outbox: the first one
 * with a handler. Any number of its instances handle them. An application with another
 * namespace can append events for publishers and deliver those; with a handler, it does
 * not start.
 */
final class HandlersOwner {

	private static final Logger logger = LoggerFactory.getLogger(HandlersOwner.class);

	private static final String ALL = "";

	private static final String HANDLERS = "handlers";

	private final DeploymentTable table;

	private final String namespace;

	private final String tablePrefix;

	/**
	 * The handlers of this application, while the owner is unknown.
	 */
	private volatile Set<String> waiting = Set.of();

	private volatile boolean told;

	/**
	 * Creates an owner that is not known yet.
	 * @param table stores the owner
	 * @param namespace identifies this application
	 * @param tablePrefix the prefix of the tables of the outbox
	 */
	HandlersOwner(DeploymentTable table, String namespace, String tablePrefix) {
		this.table = table;
		this.namespace = namespace;
		this.tablePrefix = tablePrefix;
	}

	/**
	 * Makes this application the owner if there is none. While the database does not
	 * answer, the owner is unknown, and {@link #require} repeats the query.
	 * @param handlers the names of its handlers, at least one
	 * @throws IdempotentConfigurationException if another application is the owner, or
	 * the table is missing or denied
	 */
	void claim(Set<String> handlers) {
		claimLater(handlers);
		try {
			check();
		}
		catch (DataAccessException ex) {
			DatabaseRequirements.warnOfSilence("which application the events of handlers belong to", ex);
		}
	}

	/**
	 * Leaves it to {@link #require} to make this application the owner.
	 * @param handlers the names of its handlers, at least one
	 */
	void claimLater(Set<String> handlers) {
		this.waiting = handlers;
	}

	/**
	 * Requires that the owner is known. No event is delivered before. As the application
	 * runs already, a mistake is logged with what to do, once.
	 * @throws IdempotentConfigurationException as for {@link #claim}
	 * @throws DataAccessException if the database does not answer
	 */
	void require() {
		try {
			check();
		}
		catch (IdempotentConfigurationException ex) {
			if (!this.told) {
				this.told = true;
				logger.error("Outbox: no event is delivered, because {} {}", ex.getMessage(), ex.getAction());
			}
			throw ex;
		}
	}

	private void check() {
		Set<String> handlers = this.waiting;
		if (handlers.isEmpty()) {
			return;
		}
		try {
			String owner = read();
			if (owner == null) {
				this.table.add(ALL, HANDLERS, this.namespace);
				owner = read();
			}
			if (owner != null && !owner.equals(this.namespace)) {
				throw refusal(handlers, owner);
			}
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw missing(handlers, ex);
		}
		this.waiting = Set.of();
	}

	/**
	 * Logs the owner for an application without handlers.
	 */
	void find() {
		try {
			String owner = read();
			if (owner != null && !owner.equals(this.namespace)) {
				logger.info("Outbox: events for the handlers of '{}', which uses the same tables, are left to it",
						owner);
			}
		}
		catch (DataAccessException ex) {
			logger.debug("The owner of handlers is unknown", ex);
		}
	}

	private @Nullable String read() {
		return this.table.read().getOrDefault(ALL, Map.of()).get(HANDLERS);
	}

	private IdempotentConfigurationException refusal(Set<String> handlers, String owner) {
		return new IdempotentConfigurationException(
				"'%s' has the @OutboxHandler methods %s, and its table %sevent contains the events for the handlers of '%s': "
					.formatted(this.namespace, handlers, this.tablePrefix, owner)
						+ "each application would run the events of the other.",
				"Give one of them tables of its own by idempotent.outbox.table-prefix, or set the same "
						+ "idempotent.namespace if both are one application. If '%s' is a former name of this application, or no longer has handlers, stop its instances and run \"update %s set content = '%s' where attribute = '%s'\"."
							.formatted(owner, this.table.name(), this.namespace, HANDLERS));
	}

	private IdempotentConfigurationException missing(Set<String> handlers, DataAccessException failure) {
		return new IdempotentConfigurationException(
				"The database lacks the table %s, or denies access to it, so it is unknown whether another application handles the events of the @OutboxHandler methods %s."
					.formatted(this.table.name(), handlers),
				Database.howToCreateTables("<database>", "outbox", "idempotent.outbox")
						+ ", and grant select and insert on it.",
				failure);
	}

}
