package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.SerializedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Protects the relay from a policy of the application that fails.
 */
final class GuardedDeadLetterPolicy implements DeadLetterPolicy {

	private static final Logger logger = LoggerFactory.getLogger(GuardedDeadLetterPolicy.class);

	private final DeadLetterPolicy policy;

	GuardedDeadLetterPolicy(DeadLetterPolicy policy) {
		this.policy = policy;
	}

	@Override
	public Optional<Duration> beforeDeadLetter(SerializedEvent event, String reason) {
		try {
			return Objects.requireNonNull(this.policy.beforeDeadLetter(event, reason));
		}
		// An error must not end the worker. A message could contain a part of the event.
		catch (Throwable ex) {
			logger.warn("The DeadLetterPolicy failed with {} for an event of type {}, which becomes dead",
					ex.getClass().getName(), event.type());
			logger.debug("The stack trace of the failure above", ex);
			return Optional.empty();
		}
	}

}
