package dev.idempotent.autoconfigure.operations;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.OutboxSummary;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Is DOWN when an event has been waiting for its first delivery for too long, or the
 * database does not answer. An application without the tables does not use the outbox: of
 * it nothing is known.
 */
final class OutboxHealthIndicator implements HealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(OutboxHealthIndicator.class);

	private final JdbcOutboxReader reader;

	private final OutboxRelay relay;

	private final Duration maxAge;

	OutboxHealthIndicator(JdbcOutboxReader reader, OutboxRelay relay, Duration maxAge) {
		this.reader = reader;
		this.relay = relay;
		this.maxAge = maxAge;
	}

	@Override
	public Health health() {
		try {
			return of(this.reader.read());
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return Health.unknown().withDetail("tables", "missing: the outbox is not used").build();
		}
		catch (DataAccessException ex) {
			logger.debug("The database did not answer the health indicator of the outbox", ex);
			return Health.down().withDetail("database", "did not answer: " + ex.getClass().getSimpleName()).build();
		}
	}

	private Health of(OutboxSummary summary) {
		boolean late = summary.oldestPendingAge().compareTo(this.maxAge) > 0;
		return (late ? Health.down() : Health.up())
			.withDetail("oldestPendingAge", summary.oldestPendingAge().toString())
			.withDetail("maxAge", this.maxAge.toString())
			.withDetail("pending", summary.pending())
			.withDetail("dead", summary.dead())
			.withDetail("unavailablePublishers", List.copyOf(this.relay.unavailablePublishers()))
			.withDetail("unavailableDestinations", List.copyOf(this.relay.unavailableDestinations()))
			.build();
	}

}
