package dev.idempotent.outbox.transaction;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.HandOffs.HandOff;
import dev.idempotent.outbox.HandOffs.OrderedHandOff;
import dev.idempotent.outbox.NewEvent;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxStore.DelayedEvent;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Inserts the events of a transaction and reserves their hand-off to the relay.
 */
final class EventWriter {

	private final OutboxStore store;

	private final OrderedOutboxStore ordered;

	private final HandOffs handOffs;

	private final InstantSource clock;

	/**
	 * Creates a writer.
	 * @param clock the clock by which applications state when an event is available
	 */
	EventWriter(OutboxStore store, OrderedOutboxStore ordered, HandOffs handOffs, InstantSource clock) {
		this.clock = clock;
		this.store = store;
		this.ordered = ordered;
		this.handOffs = handOffs;
	}

	/**
	 * Returns the resource that a transaction must have so that events can be inserted.
	 */
	Object transactionResource() {
		return this.store.transactionResource();
	}

	/**
	 * Marks the calling thread's transaction.
	 * @return the mark, or {@code null} if it needs none
	 */
	@Nullable UUID mark() {
		return this.store.mark();
	}

	/**
	 * Removes a mark.
	 * @return whether the transaction still had it
	 */
	boolean unmark(UUID mark) {
		return this.store.unmark(mark);
	}

	/**
	 * Inserts events.
	 * @param reserves whether the completion of the transaction will be reported
	 * @return what to do at the completion
	 */
	List<Written> write(List<NewEvent> events, boolean reserves) {
		boolean leasable = reserves && this.store.leasesAtAppend();
		List<Written> written = new ArrayList<>();
		try {
			Instant now = this.clock.instant();
			writeUnordered(events.stream().filter((event) -> !isDelayed(event, now)).toList(), leasable, written);
			writeDelayed(events.stream().filter((event) -> isDelayed(event, now)).toList(), now, written);
			writeOrdered(events, leasable, written);
			return written;
		}
		catch (RuntimeException | Error ex) {
			written.forEach(Written::cancel);
			throw ex;
		}
	}

	private void writeUnordered(List<NewEvent> events, boolean leasable, List<Written> written) {
		List<SerializedEvent> unordered = events.stream()
			.filter((event) -> !event.ordered())
			.map(NewEvent::event)
			.toList();
		if (!unordered.isEmpty()) {
			Unordered part = new Unordered(this.handOffs, leasable ? this.handOffs.reserve(unordered) : null);
			written.add(part);
			part.rows = this.store.append(unordered, (part.handOff != null) ? part.handOff.lease() : null);
		}
	}

	private void writeDelayed(List<NewEvent> events, Instant now, List<Written> written) {
		if (events.isEmpty()) {
			return;
		}
		List<DelayedEvent> delayed = events.stream()
			.map((event) -> new DelayedEvent(event.event(), delay(event, now)))
			.toList();
		this.store.appendDelayed(delayed);
		// Only starts a relay that has not started yet: nothing is due.
		written.add(new Unordered(this.handOffs, null));
	}

	private static boolean isDelayed(NewEvent event, Instant now) {
		return !event.ordered() && event.availableAt() != null && event.availableAt().isAfter(now);
	}

	/**
	 * In whole milliseconds, because the store would drop a part of one.
	 */
	private static Duration delay(NewEvent event, Instant now) {
		Instant time = Objects.requireNonNull(event.availableAt());
		return Duration.ofMillis(Duration.between(now, time).plusNanos(999_999).toMillis());
	}

	private void writeOrdered(List<NewEvent> events, boolean leasable, List<Written> written) {
		List<OrderedEvent> found = events.stream()
			.filter(NewEvent::ordered)
			.map((event) -> OrderedEvent.of(event.event()))
			.toList();
		if (!found.isEmpty()) {
			OrderedHandOff handOff = this.handOffs.reserveOrdered(found, leasable);
			written.add(new Written() {

				@Override
				public void commit() {
					handOff.committed();
				}

				@Override
				public void cancel() {
					handOff.cancel();
				}

			});
			handOff.inserted(this.ordered.append(handOff.events()));
		}
	}

	/**
	 * Events that were inserted and whose transaction has not ended.
	 */
	interface Written {

		void commit();

		void cancel();

	}

	private static final class Unordered implements Written {

		private final HandOffs handOffs;

		private final @Nullable HandOff handOff;

		private List<SerializedEvent> rows = List.of();

		private Unordered(HandOffs handOffs, @Nullable HandOff handOff) {
			this.handOffs = handOffs;
			this.handOff = handOff;
		}

		@Override
		public void commit() {
			if (this.handOff != null) {
				this.handOff.committed(this.rows);
			}
			else {
				this.handOffs.wake(this.rows);
			}
		}

		@Override
		public void cancel() {
			if (this.handOff != null) {
				this.handOff.cancel();
			}
		}

	}

}
