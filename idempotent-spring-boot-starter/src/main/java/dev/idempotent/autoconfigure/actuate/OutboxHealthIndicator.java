package dev.idempotent.autoconfigure.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import dev.idempotent.autoconfigure.Durations;
import dev.idempotent.outbox.jdbc.OutboxOperations;
import dev.idempotent.outbox.jdbc.OutboxOperations.LateEvent;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxBacklog;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxSummary;
import dev.idempotent.outbox.jdbc.OutboxOperations.UnservedTopic;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Reports DOWN if the oldest pending event, an event without a handler or publisher in
 * this instance, or the last scan of the relay is too old, or if the database is
 * unreachable. Reports UNKNOWN before the relay has scanned the table, because the
 * indicator does not search the table itself.
 */
final class OutboxHealthIndicator implements HealthIndicator {

	private static final Logger logger = LoggerFactory.getLogger(OutboxHealthIndicator.class);

	private final OutboxOperations operations;

	private final Supplier<@Nullable OutboxRelay> relay;

	private final Duration maxAge;

	/**
	 * Creates the indicator.
	 * @param operations queries the database, but not for the backlog, which it would
	 * have to search
	 * @param relay supplies {@code null} while the outbox is off
	 * @param maxAge the age of the oldest pending event, and of the last scan, from which
	 * the outbox is down
	 */
	OutboxHealthIndicator(OutboxOperations operations, Supplier<@Nullable OutboxRelay> relay, Duration maxAge) {
		this.operations = operations;
		this.relay = relay;
		this.maxAge = maxAge;
	}

	@Override
	public Health health() {
		OutboxRelay own = this.relay.get();
		if (own == null) {
			return unknown("outbox", "off: the application does not use it");
		}
		if (!own.isRunning()) {
			return unknown("relay", "not running in this process: the instances that deliver events know the backlog");
		}
		try {
			return of(this.operations.summary(), own);
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			return unknown("tables", "missing");
		}
		catch (DataAccessException ex) {
			logger.debug("The outbox health indicator could not read the database", ex);
			return Health.down().withDetail("database", "did not respond: " + ex.getClass().getSimpleName()).build();
		}
	}

	private static Health unknown(String detail, String reason) {
		return Health.unknown().withDetail(detail, reason).build();
	}

	private Health of(OutboxSummary summary, OutboxRelay own) {
		OutboxBacklog backlog = own.lastPass().orElse(null);
		Health.Builder health = (backlog == null) ? Health.unknown().withDetail("backlog", "not known before a scan")
				: (isLate(backlog) ? Health.down() : Health.up())
					.withDetail("oldestPendingAge", backlog.oldestAge().toString())
					.withDetail("pending", backlog.events())
					.withDetail("waiting", backlog.waiting())
					.withDetail("blocked", backlog.blocked())
					.withDetail("unserved", backlog.unserved().stream().map(UnservedTopic::topic).toList())
					.withDetail("complete", backlog.complete())
					.withDetail("scanned", backlog.age().toString());
		if (backlog != null && isTooOld(backlog.oldestAge())) {
			this.operations.late().ifPresent((late) -> health.withDetail("late", describe(late)));
		}
		return health.withDetail("maxAge", this.maxAge.toString())
			.withDetail("delayed", summary.delayed())
			.withDetail("dead", summary.dead())
			.withDetail("unavailablePublishers", List.copyOf(own.unavailablePublishers()))
			.withDetail("unavailableDestinations", List.copyOf(own.unavailableDestinations()))
			.withDetail("pausedTopics", List.copyOf(own.pausedTopics()))
			.build();
	}

	private static Map<String, String> describe(LateEvent late) {
		String state = late.leased() ? "leased" : "due";
		String action = "see 'Events do not arrive' in docs/operations.md";
		if (late.locked()) {
			state = "locked";
			action = "A transaction has locked its row: the transaction of its handler, of a host that has died, or of "
					+ "another program. If it does not end by itself, end its session in the database; see 'A locked "
					+ "event' in docs/operations.md";
		}
		return Map.of("id", late.id(), "topic", late.topic(), "type", late.type(), "age", late.age().toString(),
				"state", state, "action", action);
	}

	private boolean isLate(OutboxBacklog backlog) {
		return isTooOld(backlog.oldestAge()) || isTooOld(backlog.unservedFor()) || isTooOld(backlog.age());
	}

	private boolean isTooOld(Duration age) {
		return age.compareTo(this.maxAge) > 0;
	}

	/**
	 * Properties of the outbox health indicator.
	 *
	 * @param maxAge Age of the oldest pending event from which the health indicator
	 * reports DOWN.
	 */
	@ConfigurationProperties("idempotent.outbox.health")
	record Properties(@DefaultValue("5m") Duration maxAge) {

		Properties {
			Durations.requirePositive("idempotent.outbox.health.max-age", maxAge, "5m");
		}

	}

}
