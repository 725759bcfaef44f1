package dev.idempotent.autoconfigure.operations;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import dev.idempotent.outbox.OutboxSummary;
import dev.idempotent.outbox.jdbc.JdbcEventLists;
import dev.idempotent.outbox.jdbc.JdbcOutboxReader;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Reports DOWN if the oldest pending event is too old or the database is unreachable, and
 * UNKNOWN, without querying the database, while the outbox is off.
 */
final class OutboxHealthIndicator implements HealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(OutboxHealthIndicator.class);

	private final JdbcOutboxReader reader;

	private final JdbcEventLists lists;

	private final Supplier<@Nullable OutboxRelay> relay;

	private final Duration maxAge;

	/**
	 * Creates the indicator.
	 * @param relay supplies {@code null} while the outbox is off
	 * @param maxAge the age of the oldest pending event from which the outbox is down
	 */
	OutboxHealthIndicator(JdbcOutboxReader reader, JdbcEventLists lists, Supplier<@Nullable OutboxRelay> relay,
			Duration maxAge) {
		this.reader = reader;
		this.lists = lists;
		this.relay = relay;
		this.maxAge = maxAge;
	}

	@Override
	public Health health() {
		OutboxRelay own = this.relay.get();
		if (own == null) {
			return Health.unknown().withDetail("outbox", "off: the application does not use it").build();
		}
		try {
			return of(this.reader.read(), own);
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return Health.unknown().withDetail("tables", "missing").build();
		}
		catch (DataAccessException ex) {
			logger.debug("The outbox health indicator could not read the database", ex);
			return Health.down().withDetail("database", "did not respond: " + ex.getClass().getSimpleName()).build();
		}
	}

	private Health of(OutboxSummary summary, OutboxRelay own) {
		// Events of paused topics wait intentionally.
		boolean late = isTooOld(summary.oldestPendingAge()) && isTooOld(this.lists.oldestUnpausedAge());
		return (late ? Health.down() : Health.up())
			.withDetail("oldestPendingAge", summary.oldestPendingAge().toString())
			.withDetail("maxAge", this.maxAge.toString())
			.withDetail("pending", summary.pending())
			.withDetail("ordered", summary.ordered())
			.withDetail("blocked", summary.blocked())
			.withDetail("dead", summary.dead())
			.withDetail("unavailablePublishers", List.copyOf(own.unavailablePublishers()))
			.withDetail("unavailableDestinations", List.copyOf(own.unavailableDestinations()))
			.withDetail("pausedTopics", List.copyOf(own.pausedTopics()))
			.build();
	}

	private boolean isTooOld(Duration age) {
		return age.compareTo(this.maxAge) > 0;
	}

}
