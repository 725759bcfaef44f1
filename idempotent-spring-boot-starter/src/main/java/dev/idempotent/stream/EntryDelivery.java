package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.aop.ListenerMethod.UnreadablePayloadException;
import dev.idempotent.stream.StreamObservation.Scope;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.stream.StreamObserver.ProcessedEntry;
import dev.idempotent.concurrent.Backoff;
import dev.idempotent.concurrent.Observers;
import dev.idempotent.concurrent.OutageLog;
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

	private final Observers<StreamObserver> observers;

	private final @Nullable StreamObservation observation;

	EntryDelivery(Subscription subscription, Duration minIdleTime, int maxDeliveries, RedeliveryPolicy redelivery,
			Observers<StreamObserver> observers, @Nullable StreamObservation observation) {
		this.observers = observers;
		this.observation = observation;
		this.subscription = subscription;
		this.minIdleTime = minIdleTime;
		this.maxDeliveries = maxDeliveries;
		this.redelivery = redelivery;
		this.backoff = new Backoff(FIRST_BACKOFF, minIdleTime);
	}

	/**
	 * Delivers an entry. Failures of observers never affect it.
	 * @return the result, which determines whether the entry is acknowledged
	 */
	Result attempt(ConsumerOperations consumer, StreamEntry entry) {
		ConsumerGroup group = this.subscription.consumerGroup();
		long started = System.nanoTime();
		Scope scope = open(group, entry);
		Result result = Result.REDELIVERED;
		try {
			result = deliver(consumer, entry, scope);
			return result;
		}
		finally {
			Duration took = Duration.ofNanos(System.nanoTime() - started);
			Outcome outcome = result.outcome;
			if (scope != null) {
				this.observers.run(() -> scope.close(outcome));
			}
			ProcessedEntry processed = new ProcessedEntry(group, outcome, entry.deliveries(), took);
			this.observers.each((observer) -> observer.processed(processed));
			// Observers may leave an interrupt flag, too.
			boolean unused = Thread.interrupted();
		}
	}

	private @Nullable Scope open(ConsumerGroup group, StreamEntry entry) {
		StreamObservation opening = this.observation;
		if (opening == null) {
			return null;
		}
		AtomicReference<@Nullable Scope> scope = new AtomicReference<>();
		this.observers.run(() -> scope.set(opening.open(group, entry.id(), entry.deliveries(), entry.headers())));
		return scope.get();
	}

	private Result deliver(ConsumerOperations consumer, StreamEntry entry, @Nullable Scope scope) {
		if (entry.deliveries() == 0) {
			logger.warn("Entry {} for the {} was trimmed from the stream before it was processed and is lost. "
					+ "Raise the maximum length of the stream", entry.id(), this.subscription);
			return Result.LOST;
		}
		if (entry.deliveries() > this.maxDeliveries) {
			// Deliveries are counted before the call: this ends entries that crash the
			// process.
			return deadLetter(consumer, entry, "none: no delivery reported a result before its consumer ended", null);
		}
		Throwable failure = call(entry);
		if (failure == null) {
			return Result.ACKNOWLEDGED;
		}
		if (scope != null) {
			this.observers.run(() -> scope.failed(reported(failure)));
		}
		return settle(consumer, entry, failure);
	}

	private @Nullable Throwable call(StreamEntry entry) {
		try {
			this.subscription.call(entry);
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

	private Result settle(ConsumerOperations consumer, StreamEntry entry, Throwable failure) {
		logger.debug("Entry {} for the {} failed", entry.id(), this.subscription, OutageLog.printable(failure));
		Duration uncountedDelay = this.redelivery.redeliveryDelay(failure);
		if (failure instanceof UnreadablePayloadException) {
			Throwable cause = (failure.getCause() != null) ? failure.getCause() : failure;
			return deadLetter(consumer, entry, cause.getClass().getName(), reported(failure));
		}
		if (uncountedDelay != null) {
			release(consumer, entry, uncountedDelay, entry.deliveries() - 1);
			return Result.NOT_COUNTED;
		}
		if (entry.deliveries() >= this.maxDeliveries || this.redelivery.isFatal(failure)) {
			return deadLetter(consumer, entry, failure.getClass().getName(), OutageLog.printable(failure));
		}
		logger.warn("Entry {} for the {} failed with {} (delivery {} of {}); it is delivered again", entry.id(),
				this.subscription, failure.getClass().getName(), entry.deliveries(), this.maxDeliveries);
		release(consumer, entry, this.backoff.after(entry.deliveries()), entry.deliveries());
		return Result.REDELIVERED;
	}

	/**
	 * Without what could contain a part of the payload.
	 */
	private static Throwable reported(Throwable failure) {
		return (failure instanceof UnreadablePayloadException unreadable)
				? new UnreadablePayloadException(Objects.requireNonNull(unreadable.getMessage()), null) : failure;
	}

	private void release(ConsumerOperations consumer, StreamEntry entry, Duration delay, long deliveries) {
		Duration idle = this.minIdleTime.minus(delay);
		consumer.release(entry.id(), idle.isNegative() ? Duration.ZERO : idle, deliveries);
	}

	private Result deadLetter(ConsumerOperations consumer, StreamEntry entry, String error, @Nullable Throwable trace) {
		logger.error("Entry {} for the {} is moved to the dead-letter stream {} after {} deliveries ({})", entry.id(),
				this.subscription, this.subscription.deadStream(), entry.deliveries(), error, trace);
		boolean moved = consumer.deadLetter(entry,
				List.of(StreamEntry.bytes("dead_error"), StreamEntry.bytes(error), StreamEntry.bytes("dead_stream"),
						StreamEntry.bytes(this.subscription.stream()), StreamEntry.bytes("dead_group"),
						StreamEntry.bytes(this.subscription.group()), StreamEntry.bytes("dead_id"),
						StreamEntry.bytes(entry.id()), StreamEntry.bytes("dead_deliveries"),
						StreamEntry.bytes(entry.deliveries())));
		return moved ? Result.DEAD : Result.REDELIVERED;
	}

	/**
	 * The result of an attempt.
	 */
	enum Result {

		/**
		 * The listener has returned.
		 */
		ACKNOWLEDGED(Outcome.ACKNOWLEDGED),

		/**
		 * The entry was trimmed before it was processed.
		 */
		LOST(Outcome.LOST),

		/**
		 * The failure was not the entry's fault: it is delivered again, without counting
		 * this attempt.
		 */
		NOT_COUNTED(Outcome.REDELIVERED),

		/**
		 * The failure was counted and the entry is delivered again.
		 */
		REDELIVERED(Outcome.REDELIVERED),

		/**
		 * The entry has been moved to the dead-letter stream.
		 */
		DEAD(Outcome.DEAD);

		private final Outcome outcome;

		Result(Outcome outcome) {
			this.outcome = outcome;
		}

		/**
		 * Whether the entry is to be acknowledged.
		 */
		boolean isProcessed() {
			return this == ACKNOWLEDGED || this == LOST;
		}

	}

}
