package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings an entry to the method, and decides what becomes of it if that fails.
 */
final class Delivery {

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

	private final Subscription subscription;

	private final StreamListenerSettings settings;

	private final RedeliveryPolicy postponement;

	Delivery(Subscription subscription, StreamListenerSettings settings, RedeliveryPolicy postponement) {
		this.subscription = subscription;
		this.settings = settings;
		this.postponement = postponement;
	}

	/**
	 * Attempts to deliver an entry.
	 * @return what Redis has been told of it, unless it is done
	 */
	Result attempt(GroupConsumer consumer, Entry entry) {
		if (entry.deliveries() == 0) {
			logger.warn("Entry {} for the {} was trimmed from the stream before it was done: it is lost. "
					+ "Let the stream keep more", entry.id(), this.subscription);
			return Result.DONE;
		}
		if (entry.deliveries() > this.settings.maxDeliveries()) {
			// It was counted before each attempt: one that ends its process ends here.
			deadLetter(consumer, entry, null);
			return Result.SETTLED;
		}
		Throwable failure = call(entry);
		return (failure != null) ? settle(consumer, entry, failure) : Result.DONE;
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
			// What a listener leaves behind would stop the next command.
			boolean unused = Thread.interrupted();
		}
	}

	private Result settle(GroupConsumer consumer, Entry entry, Throwable failure) {
		logger.debug("Entry {} for the {} failed", entry.id(), this.subscription, failure);
		Duration postponed = this.postponement.after(failure);
		if (failure instanceof UnreadablePayloadException) {
			deadLetter(consumer, entry, (failure.getCause() != null) ? failure.getCause() : failure);
		}
		else if (postponed != null) {
			handBack(consumer, entry, postponed, entry.deliveries() - 1);
			return Result.POSTPONED;
		}
		else if (entry.deliveries() >= this.settings.maxDeliveries() || this.postponement.isHopeless(failure)) {
			deadLetter(consumer, entry, failure);
		}
		else {
			logger.warn("Entry {} for the {} failed with {} (delivery {} of {}); it is tried again", entry.id(),
					this.subscription, failure.getClass().getName(), entry.deliveries(), this.settings.maxDeliveries());
			handBack(consumer, entry, BackOff.after(entry.deliveries(), FIRST_RETRY, this.settings.minIdleTime()),
					entry.deliveries());
		}
		return Result.SETTLED;
	}

	private void handBack(GroupConsumer consumer, Entry entry, Duration delay, long deliveries) {
		Duration idle = this.settings.minIdleTime().minus(delay);
		consumer.handBack(entry.id(), idle.isNegative() ? Duration.ZERO : idle, deliveries);
	}

	private void deadLetter(GroupConsumer consumer, Entry entry, @Nullable Throwable failure) {
		String error = (failure != null) ? failure.getClass().getName() : "none: its consumers ended without a word";
		logger.error("Entry {} for the {} goes to the stream {} after {} deliveries ({})", entry.id(),
				this.subscription, this.subscription.deadStream(), entry.deliveries(), error);
		consumer.deadLetter(entry,
				List.of(Entry.bytes("dead_error"), Entry.bytes(error), Entry.bytes("dead_stream"),
						Entry.bytes(this.subscription.stream()), Entry.bytes("dead_group"),
						Entry.bytes(this.subscription.group()), Entry.bytes("dead_id"), Entry.bytes(entry.id()),
						Entry.bytes("dead_deliveries"), Entry.bytes(entry.deliveries())));
	}

	/**
	 * How an attempt has ended.
	 */
	enum Result {

		/**
		 * The entry is done and to be acknowledged.
		 */
		DONE,

		/**
		 * The failure was not the entry's fault: it is delivered again, without counting
		 * this attempt.
		 */
		POSTPONED,

		/**
		 * The failure was counted: the entry is delivered again, or is dead.
		 */
		SETTLED

	}

}
