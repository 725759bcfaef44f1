package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * Stores events from their append until their delivery. Internal to this library:
 * applications cannot replace it. Each method is one atomic step. The marks and
 * {@link #append} participate in the transaction of the calling thread. The others commit
 * in a transaction of their own and change only events whose lease still has the given
 * claim id; other events are left unchanged and not counted. Failures are
 * {@link org.springframework.dao.DataAccessException}s.
 */
public interface OutboxStore extends EventSettlement {

	/**
	 * The key under which the transactions of this store bind their resource to the
	 * thread.
	 * @return usually the {@code DataSource}
	 */
	Object transactionResource();

	/**
	 * Returns whether a lease that is given to {@link #append} begins at the append.
	 * @return {@code false} if it would begin with the transaction
	 */
	boolean leasesAtAppend();

	/**
	 * Inserts a mark into the transaction of the calling thread, if the database can roll
	 * back all of its work and go on in another one, as MySQL and H2 do to break a
	 * deadlock.
	 * @return the mark, or {@code null} if the database cannot
	 */
	@Nullable UUID mark();

	/**
	 * Deletes a mark in the transaction of the calling thread.
	 * @param mark as inserted
	 * @return {@code false} if it was no longer there, so that what the transaction did
	 * before may have been rolled back
	 */
	boolean unmark(UUID mark);

	/**
	 * Inserts events in the transaction of the calling thread, in this order and in one
	 * round trip.
	 * @param events without rows yet
	 * @param lease leases the events from now on and counts an attempt; {@code null} to
	 * append them without a lease
	 * @return the same events with their rows
	 */
	List<SerializedEvent> append(List<SerializedEvent> events, @Nullable EventLease lease);

	/**
	 * Inserts waiting events in the transaction of the calling thread, in this order.
	 * They are due after their delays.
	 * @param events without rows yet
	 */
	void appendDelayed(List<DelayedEvent> events);

	/**
	 * Leases events that are due and not leased, also those that cannot be delivered.
	 * Counts an attempt for each, which stays counted if the event cannot be read.
	 * @param lease begins now
	 * @param scope which events
	 * @return in the order of their rows
	 */
	List<LeasedEvent> claim(EventLease lease, ClaimScope scope);

	/**
	 * Reads which pending events are committed and still leased by the given claims. An
	 * event that was handed over at its commit is published only after this has shown it:
	 * a database can roll back a transaction whose commit its driver reports as
	 * successful.
	 * @param events pending events
	 * @return the committed ones, in the given order
	 */
	List<LeasedEvent> committed(List<LeasedEvent> events);

	/**
	 * The last row of a pending event, of any publisher, leased or not.
	 * @param above a row
	 * @return the last row above the given one, or the given one if there is none
	 */
	long lastRow(long above);

	/**
	 * A row up to which there are no pending events, of any publisher, leased or not, and
	 * which no append will precede. Rows that other programs insert with low ids of their
	 * own can precede it for up to five minutes. Inexpensive: the database is queried at
	 * most once per second. Failures are not thrown.
	 * @return 0 to search from the first row; empty if the store cannot know such a row,
	 * so that searches from the first row can be slow beside a long transaction
	 */
	OptionalLong lowWaterMark();

	/**
	 * Moves pending events that other programs have inserted for later to the waiting
	 * events.
	 * @param limit how many at most
	 * @return how many were moved
	 */
	int moveDelayedToWaiting(int limit);

	/**
	 * A lease of events.
	 *
	 * @param claimId unique for each claim or hand-off: the fencing token
	 * @param owner the name of the instance, for operators
	 * @param duration how long the lease lasts
	 */
	record EventLease(UUID claimId, String owner, Duration duration) {

		/**
		 * Creates a lease with a new claim id.
		 * @param owner the name of the instance
		 * @param duration how long the lease lasts
		 * @return the lease
		 */
		public static EventLease by(String owner, Duration duration) {
			return new EventLease(UUID.randomUUID(), owner, duration);
		}

	}

	/**
	 * Which due events a claim takes.
	 *
	 * @param waiting {@code true} for waiting events, {@code false} for pending ones
	 * @param above only rows above this one, of pending events; 0 for all of them
	 * @param publishers the prefixes of the topics
	 * @param except topics to leave out
	 * @param topic the only topic, or {@code null} for all topics of the publishers
	 * @param limit how many events at most
	 * @param bytes no further event is claimed once the payloads have this many bytes; at
	 * least one event is claimed
	 * @param attempts an event with more attempts than this comes without its payload
	 */
	record ClaimScope(boolean waiting, long above, Set<String> publishers, Set<String> except, @Nullable String topic,
			int limit, long bytes, int attempts) {

		/**
		 * All topics of some publishers, with payloads of any size.
		 * @param waiting {@code true} for waiting events, {@code false} for pending ones
		 * @param above only rows above this one, of pending events
		 * @param publishers the prefixes of the topics
		 * @param limit how many events at most
		 */
		public ClaimScope(boolean waiting, long above, Set<String> publishers, int limit) {
			this(waiting, above, publishers, Set.of(), null, limit, Long.MAX_VALUE, Integer.MAX_VALUE);
		}

	}

	/**
	 * An event that is to be delivered later.
	 *
	 * @param event without a row yet
	 * @param delay the time until it is due, from its append
	 */
	record DelayedEvent(SerializedEvent event, Duration delay) {
	}

	/**
	 * An event and the claim that leases it.
	 *
	 * @param event the event
	 * @param claimId the claim
	 * @param waiting whether it is a waiting event or a pending one
	 * @param storedBytes the size of its payload as it is stored, which the claim has
	 * counted
	 * @param undeliverable the outcome of an event that cannot be published as it is
	 * stored, or {@code null} if it can
	 * @param orderedRow where an ordered event is stored, or {@code null} for an
	 * unordered one
	 */
	record LeasedEvent(SerializedEvent event, UUID claimId, boolean waiting, long storedBytes,
			@Nullable Outcome undeliverable, @Nullable OrderedRow orderedRow) {

		/**
		 * An event that can be published.
		 * @param event the event
		 * @param claimId the claim
		 * @param waiting whether it is a waiting event or a pending one
		 */
		public LeasedEvent(SerializedEvent event, UUID claimId, boolean waiting) {
			this(event, claimId, waiting, event.payload().length, null, null);
		}

		/**
		 * An ordered event that can be published.
		 * @param event the event
		 * @param claimId the claim
		 * @param orderedRow where it is stored
		 */
		public LeasedEvent(SerializedEvent event, UUID claimId, OrderedRow orderedRow) {
			this(event, claimId, false, event.payload().length, null, orderedRow);
		}

		/**
		 * The row of the event.
		 * @return within the table of its state
		 */
		public long row() {
			return (this.orderedRow != null) ? this.orderedRow.row() : this.event.sequence();
		}

		/**
		 * The hash of the topic and key of an ordered event.
		 * @return as {@link OrderedEvent#keyHash()}
		 * @throws IllegalStateException if the event is not ordered
		 */
		public long keyHash() {
			if (this.orderedRow == null) {
				throw new IllegalStateException("The event is not ordered");
			}
			return this.orderedRow.keyHash();
		}

	}

	/**
	 * Where an ordered event is stored.
	 *
	 * @param keyHash the hash of its topic and key
	 * @param row its row
	 */
	record OrderedRow(long keyHash, long row) {
	}

	/**
	 * A leased event that could not be delivered.
	 *
	 * @param leased the event
	 * @param reason a sentence for operators
	 * @param delay the time until the next attempt, at most 36,500 days; without effect
	 * on a dead event
	 * @param counted whether the attempt stays counted; without effect on a dead event
	 */
	record FailedEvent(LeasedEvent leased, String reason, Duration delay, boolean counted) {

		/**
		 * Below the limits of the databases for a point in time.
		 */
		private static final Duration MAX_DELAY = Duration.ofDays(36_500);

		/**
		 * Limits what applications give to what a database can store: otherwise one event
		 * would keep the outcomes of its batch from being stored.
		 */
		public FailedEvent {
			reason = Objects.requireNonNullElse(reason, "No reason was given");
			delay = delay.isNegative() ? Duration.ZERO : delay.compareTo(MAX_DELAY) > 0 ? MAX_DELAY : delay;
		}

		/**
		 * An event whose attempt stays counted.
		 * @param leased the event
		 * @param reason a sentence for operators
		 * @param delay the time until the next attempt
		 */
		public FailedEvent(LeasedEvent leased, String reason, Duration delay) {
			this(leased, reason, delay, true);
		}

		/**
		 * An event without a next attempt.
		 * @param leased the event
		 * @param reason a sentence for operators
		 */
		public FailedEvent(LeasedEvent leased, String reason) {
			this(leased, reason, Duration.ZERO);
		}

	}

}
