package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.advice.ListenerMethod.UnreadablePayloadException;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.stream.StreamObserver.ProcessedEntry;
import dev.idempotent.work.Backoff;
import dev.idempotent.work.Observers;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the listener method with an entry, and redelivers or dead-letters the entry if
 * the method fails. Each delivery is an observation named {@code stream.process}.
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

	private final ObservationRegistry observations;

	EntryDelivery(Subscription subscription, Duration minIdleTime, int maxDeliveries, RedeliveryPolicy redelivery,
			Observers<StreamObserver> observers, ObservationRegistry observations) {
		this.observers = observers;
		this.observations = observations;
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
	Result attempt(ConsumerOperations consumer, Entry entry) {
		ConsumerGroup group = this.subscription.consumerGroup();
		long started = System.nanoTime();
		AtomicReference<@Nullable ObservedDelivery> opened = new AtomicReference<>();
		this.observers.run(() -> opened.set(new ObservedDelivery(entry)));
		ObservedDelivery observed = opened.get();
		Result result = Result.REDELIVERED;
		try {
			result = deliver(consumer, entry, observed);
			return result;
		}
		finally {
			Duration took = Duration.ofNanos(System.nanoTime() - started);
			Outcome outcome = result.outcome;
			if (observed != null) {
				this.observers.run(() -> observed.close(outcome));
			}
			ProcessedEntry processed = new ProcessedEntry(group, outcome, entry.deliveries(), took);
			this.observers.each((observer) -> observer.processed(processed));
			// Observers may leave an interrupt flag, too.
			boolean unused = Thread.interrupted();
		}
	}

	private Result deliver(ConsumerOperations consumer, Entry entry, @Nullable ObservedDelivery observed) {
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
		if (observed != null) {
			this.observers.run(() -> observed.observation.error(reported(failure)));
		}
		return settle(consumer, entry, failure);
	}

	private @Nullable Throwable call(Entry entry) {
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

	private Result settle(ConsumerOperations consumer, Entry entry, Throwable failure) {
		logger.debug("Entry {} for the {} failed", entry.id(), this.subscription, failure);
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
			return deadLetter(consumer, entry, failure.getClass().getName(), failure);
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

	private void release(ConsumerOperations consumer, Entry entry, Duration delay, long deliveries) {
		Duration idle = this.minIdleTime.minus(delay);
		consumer.release(entry.id(), idle.isNegative() ? Duration.ZERO : idle, deliveries);
	}

	private Result deadLetter(ConsumerOperations consumer, Entry entry, String error, @Nullable Throwable trace) {
		logger.error("Entry {} for the {} is moved to the dead-letter stream {} after {} deliveries ({})", entry.id(),
				this.subscription, this.subscription.deadStream(), entry.deliveries(), error, trace);
		boolean moved = consumer.deadLetter(entry,
				List.of(Entry.bytes("dead_error"), Entry.bytes(error), Entry.bytes("dead_stream"),
						Entry.bytes(this.subscription.stream()), Entry.bytes("dead_group"),
						Entry.bytes(this.subscription.group()), Entry.bytes("dead_id"), Entry.bytes(entry.id()),
						Entry.bytes("dead_deliveries"), Entry.bytes(entry.deliveries())));
		return moved ? Result.DEAD : Result.REDELIVERED;
	}

	/**
	 * The observation of one delivery. Its span is a child of the span in the headers of
	 * the entry.
	 */
	private final class ObservedDelivery {

		private final Observation.@Nullable Scope previous = EntryDelivery.this.observations
			.getCurrentObservationScope();

		private final Observation observation;

		private final Observation.Scope scope;

		ObservedDelivery(Entry entry) {
			Subscription subscription = EntryDelivery.this.subscription;
			this.observation = Observation
				.createNotStarted("stream.process", () -> context(entry), EntryDelivery.this.observations)
				.contextualName(subscription.stream() + " process")
				.lowCardinalityKeyValue("stream", subscription.stream())
				.lowCardinalityKeyValue("group", subscription.group())
				.highCardinalityKeyValue("stream.entry.id", entry.id())
				.highCardinalityKeyValue("stream.entry.deliveries", String.valueOf(entry.deliveries()));
			this.observation.start();
			try {
				this.scope = this.observation.openScope();
			}
			catch (RuntimeException | Error ex) {
				end(EntryDelivery.this.observations.getCurrentObservationScope());
				throw ex;
			}
		}

		private static ReceiverContext<Map<String, String>> context(Entry entry) {
			ReceiverContext<Map<String, String>> context = new ReceiverContext<>(ObservedDelivery::header,
					Kind.CONSUMER);
			context.setCarrier(entry.headers());
			context.setRemoteServiceName("redis");
			return context;
		}

		/**
		 * The outbox writes the names of headers in lower case, whatever the propagator.
		 */
		private static @Nullable String header(Map<String, String> headers, String name) {
			String value = headers.get(name);
			return (value != null) ? value : headers.get(name.toLowerCase(Locale.ROOT));
		}

		void close(Outcome outcome) {
			this.observation.lowCardinalityKeyValue("outcome", outcome.tag());
			end(this.scope);
		}

		/**
		 * Restores the previous scope even if a handler throws, which the registry does
		 * not.
		 */
		private void end(Observation.@Nullable Scope scope) {
			try {
				if (scope != null && scope != this.previous) {
					scope.close();
				}
			}
			finally {
				EntryDelivery.this.observations.setCurrentObservationScope(this.previous);
				this.observation.stop();
			}
		}

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
