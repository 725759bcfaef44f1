package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.stream.EntryObservers.ObservedEntry;
import dev.idempotent.stream.ListenerMethod.UnreadablePayloadException;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.work.Backoff;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the listener method with an entry, and redelivers or dead-letters the entry if
 * the method fails.
 */
final class EntryDelivery {

	private static final Logger logger = LoggerFactory.getLogger(EntryDelivery.class);

	private static final Duration FIRST_BACKOFF = Duration.ofSeconds(1);

	private final Subscription subscription;

	private final Duration minIdleTime;

	private final int maxDeliveries;

	private final RedeliveryPolicy redelivery;

	private final Backoff backoff;

	private final EntryObservers observers;

	EntryDelivery(Subscription subscription, Duration minIdleTime, int maxDeliveries, RedeliveryPolicy redelivery,
			EntryObservers observers) {
		this.observers = observers;
		this.subscription = subscription;
		this.minIdleTime = minIdleTime;
		this.maxDeliveries = maxDeliveries;
		this.redelivery = redelivery;
		this.backoff = new Backoff(FIRST_BACKOFF, minIdleTime);
	}

	/**
	 * Delivers an entry.
	 * @return the result, which determines whether the entry is acknowledged
	 */
	Result attempt(ConsumerOperations consumer, Entry entry) {
		ObservedEntry observed = this.observers.start(this.subscription.consumerGroup(), entry);
		try {
			return deliver(consumer, entry, observed);
		}
		finally {
			observed.end();
			// Observers may leave an interrupt flag, too.
			boolean unused = Thread.interrupted();
		}
	}

	private Result deliver(ConsumerOperations consumer, Entry entry, ObservedEntry observed) {
		if (entry.deliveries() == 0) {
			logger.warn("Entry {} for the {} was trimmed from the stream before it was processed and is lost. "
					+ "Raise the maximum length of the stream", entry.id(), this.subscription);
			observed.outcome(Outcome.LOST);
			return Result.PROCESSED;
		}
		if (entry.deliveries() > this.maxDeliveries) {
			// Deliveries are counted before the call: this ends entries that crash the
			// process.
			deadLetter(consumer, entry, "none: no delivery reported a result before its consumer ended", null,
					observed);
			return Result.SETTLED;
		}
		Throwable failure = call(entry);
		if (failure != null) {
			observed.failed(reported(failure));
			return settle(consumer, entry, failure, observed);
		}
		observed.outcome(Outcome.ACKNOWLEDGED);
		return Result.PROCESSED;
	}

	private @Nullable Throwable call(Entry entry) {
		try {
			this.subscription.method().invoke(entry);
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
		finally {
			// An interrupt flag left by a listener would abort the next command.
			boolean unused = Thread.interrupted();
		}
	}

	private Result settle(ConsumerOperations consumer, Entry entry, Throwable failure, ObservedEntry observed) {
		logger.debug("Entry {} for the {} failed", entry.id(), this.subscription, failure);
		Duration uncountedDelay = this.redelivery.redeliveryDelay(failure);
		if (failure instanceof UnreadablePayloadException) {
			Throwable cause = (failure.getCause() != null) ? failure.getCause() : failure;
			deadLetter(consumer, entry, cause.getClass().getName(), reported(failure), observed);
		}
		else if (uncountedDelay != null) {
			release(consumer, entry, uncountedDelay, entry.deliveries() - 1);
			return Result.NOT_COUNTED;
		}
		else if (entry.deliveries() >= this.maxDeliveries || this.redelivery.isFatal(failure)) {
			deadLetter(consumer, entry, failure.getClass().getName(), failure, observed);
		}
		else {
			logger.warn("Entry {} for the {} failed with {} (delivery {} of {}); it is delivered again", entry.id(),
					this.subscription, failure.getClass().getName(), entry.deliveries(), this.maxDeliveries);
			release(consumer, entry, this.backoff.after(entry.deliveries()), entry.deliveries());
		}
		return Result.SETTLED;
	}

	/**
	 * Without what could contain a part of the payload.
	 */
	private static Throwable reported(Throwable failure) {
		return (failure instanceof UnreadablePayloadException unreadable)
				? new UnreadablePayloadException(Objects.requireNonNull(unreadable.getMessage()), null) : failure;
	}

	private void release(ConsumerOperations consumer, Entry entry, Duration delay, long deliveries) {
		Duration idle = this.minIdleTime.minus(delay);
		consumer.release(entry.id(), idle.isNegative() ? Duration.ZERO : idle, deliveries);
	}

	private void deadLetter(ConsumerOperations consumer, Entry entry, String error, @Nullable Throwable trace,
			ObservedEntry observed) {
		logger.error("Entry {} for the {} is moved to the dead-letter stream {} after {} deliveries ({})", entry.id(),
				this.subscription, this.subscription.deadStream(), entry.deliveries(), error, trace);
		boolean moved = consumer.deadLetter(entry,
				List.of(Entry.bytes("dead_error"), Entry.bytes(error), Entry.bytes("dead_stream"),
						Entry.bytes(this.subscription.stream()), Entry.bytes("dead_group"),
						Entry.bytes(this.subscription.group()), Entry.bytes("dead_id"), Entry.bytes(entry.id()),
						Entry.bytes("dead_deliveries"), Entry.bytes(entry.deliveries())));
		if (moved) {
			observed.outcome(Outcome.DEAD);
		}
	}

	/**
	 * The result of an attempt.
	 */
	enum Result {

		/**
		 * The entry has been processed and is to be acknowledged.
		 */
		PROCESSED,

		/**
		 * The failure was not the entry's fault: it is delivered again, without counting
		 * this attempt.
		 */
		NOT_COUNTED,

		/**
		 * The failure was counted: the entry is delivered again, or is dead.
		 */
		SETTLED

	}

}
