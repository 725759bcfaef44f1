package dev.idempotent.autoconfigure.operations;

import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.JdbcBlockedEvents;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operations of the actuator's endpoint {@code outbox}.
 */
final class OutboxOperator {

	private static final Logger logger = LoggerFactory.getLogger(OutboxOperator.class);

	private final DeadEvents dead;

	private final JdbcBlockedEvents blocked;

	private final TopicControl control;

	private final OutboxTopics topics;

	private final Supplier<@Nullable OutboxRelay> relay;

	/**
	 * Creates an operator.
	 * @param relay supplies {@code null} while the outbox is off
	 */
	OutboxOperator(DeadEvents dead, JdbcBlockedEvents blocked, TopicControl control, OutboxTopics topics,
			Supplier<@Nullable OutboxRelay> relay) {
		this.dead = dead;
		this.blocked = blocked;
		this.control = control;
		this.topics = topics;
		this.relay = relay;
	}

	/**
	 * Changes events.
	 * @return the number of events by what was done
	 */
	@Nullable Map<String, Integer> change(String operation, Supplier<DeadFilter> filter) {
		return switch (operation) {
			case "retry" -> done("retried", "dead", filter.get(), this.dead::retry);
			case "discard" -> done("discarded", "dead", filter.get(), this.dead::discard);
			case "retry-blocked" -> done("retried", "blocked", filter.get(), this.blocked::retry);
			case "skip-blocked" -> done("skipped", "blocked", filter.get(), this.blocked::skip);
			case "discard-blocked" -> done("discarded", "blocked", filter.get(), this.blocked::discard);
			default -> null;
		};
	}

	/**
	 * Pauses a topic of a publisher of this application. Its destination is not checked.
	 */
	Map<String, Integer> pause(String topic) {
		if (this.topics.publishers().stream().noneMatch((each) -> topic.startsWith(each.prefix() + ":"))) {
			throw new OutboxRequestException("No publisher of this application serves the topic",
					"Specify a topic as <publisher>:<destination>, with one of: " + String.join(", ",
							this.topics.publishers().stream().map(OutboxPublisher::prefix).toList()));
		}
		try {
			return changed("paused", topic, this.control.pause(topic));
		}
		catch (IllegalArgumentException ex) {
			throw new OutboxRequestException("The parameter 'topic' is not a topic", String.valueOf(ex.getMessage()));
		}
		catch (IllegalStateException ex) {
			throw new OutboxRequestException(String.valueOf(ex.getMessage()), "Resume some of them first");
		}
	}

	Map<String, Integer> resume(String topic) {
		return changed("resumed", topic, this.control.resume(topic));
	}

	private Map<String, Integer> changed(String done, String topic, boolean changed) {
		OutboxRelay own = this.relay.get();
		if (own != null && own.isRunning()) {
			own.refreshPausedTopics();
		}
		if (changed) {
			logger.info("An operator has {} the topic {}", done, topic);
		}
		return Map.of(done, changed ? 1 : 0);
	}

	/**
	 * Wakes the relay even after a failure: some events may have been changed before it.
	 */
	private Map<String, Integer> done(String done, String state, DeadFilter filter, ToIntFunction<DeadFilter> step) {
		try {
			int count = step.applyAsInt(filter);
			logger.info("An operator has {} {} {} events", done, count, state);
			return Map.of(done, count);
		}
		finally {
			wakeRelay();
		}
	}

	/**
	 * A relay that is switched off must not be woken, because that would start it.
	 */
	private void wakeRelay() {
		OutboxRelay own = this.relay.get();
		if (own != null && own.isRunning()) {
			own.wake();
		}
	}

}
