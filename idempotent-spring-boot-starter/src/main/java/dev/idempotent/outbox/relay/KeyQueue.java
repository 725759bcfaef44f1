package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.relay.HeadCheck.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * The events of one key that this process leases, all with the same claim id. At most one
 * worker processes a queue at a time. Guarded by itself.
 */
final class KeyQueue {

	/**
	 * How many events of a key are inserted with a lease at most. Later ones are claimed.
	 */
	static final int MAX_EVENTS = 500;

	final long keyHash;

	final String topic;

	final EventLease lease;

	private final QueueCapacity capacity;

	private final TreeMap<Long, KeyMember> members = new TreeMap<>();

	/**
	 * Leased events of earlier queues of the key, which a worker has to release.
	 */
	private final List<LeasedEvent> toRelease = new ArrayList<>();

	private int reserved;

	private boolean scheduled;

	private boolean signaled;

	/**
	 * Whether there may be events of the key without a lease.
	 */
	private boolean overflowed;

	private boolean replaced;

	/**
	 * The row of an event whose transaction has committed, but has not been reported.
	 */
	private @Nullable Long awaited;

	KeyQueue(long keyHash, String topic, EventLease lease, QueueCapacity capacity) {
		this.keyHash = keyHash;
		this.capacity = capacity;
		this.topic = topic;
		this.lease = lease;
	}

	/**
	 * Reserves a place for an event that is about to be inserted.
	 * @return whether to insert it with the lease of this queue
	 */
	synchronized boolean reserve(SerializedEvent event) {
		if (this.overflowed || this.reserved + this.members.size() >= MAX_EVENTS
				|| !this.capacity.reserve(List.of(event))) {
			this.overflowed = true;
			return false;
		}
		this.reserved++;
		return true;
	}

	/**
	 * Adds an inserted event for which a place is reserved.
	 */
	synchronized void join(LeasedEvent event, long deadline) {
		this.reserved--;
		this.members.put(event.row(), new KeyMember(event, deadline, 0));
	}

	/**
	 * Gives a reserved place back.
	 */
	synchronized void leave(SerializedEvent event) {
		this.reserved--;
		this.capacity.free(List.of(event));
	}

	/**
	 * Removes an event that was rolled back, or whose outcome is unknown.
	 */
	synchronized void leave(long row) {
		remove(row);
		endWait(row);
		this.signaled |= this.members.isEmpty();
	}

	/**
	 * Marks an event as committed.
	 * @return whether the event can be delivered from this queue; if not, another queue
	 * must release it
	 */
	synchronized boolean committed(long row) {
		endWait(row);
		KeyMember member = this.members.get(row);
		if (this.replaced) {
			remove(row);
			return false;
		}
		if (member != null) {
			this.members.put(row, new KeyMember(member.event(), member.deadline(), System.nanoTime()));
		}
		return true;
	}

	private void endWait(long row) {
		if (this.awaited != null && this.awaited == row) {
			this.awaited = null;
		}
	}

	/**
	 * Adds events that were claimed with the lease of this queue.
	 * @param more whether there may be further events that can be claimed
	 */
	synchronized void addClaimed(List<LeasedEvent> events, long deadline, boolean more) {
		this.overflowed = more;
		// Those whose lease had expired are here already.
		events.forEach((event) -> remove(event.row()));
		this.capacity.take(events.stream().map(LeasedEvent::event).toList());
		events.forEach((event) -> this.members.put(event.row(), KeyMember.claimed(event, deadline)));
	}

	synchronized void releaseLater(List<LeasedEvent> events) {
		this.toRelease.addAll(events);
	}

	synchronized List<LeasedEvent> takeReleases() {
		List<LeasedEvent> taken = List.copyOf(this.toRelease);
		this.toRelease.clear();
		return taken;
	}

	/**
	 * Requests a check of the key's first row.
	 */
	synchronized void signal() {
		this.signaled = true;
		this.awaited = null;
	}

	/**
	 * Claims the processing of this queue for one worker.
	 * @return {@code false} if there is nothing to do, or it is scheduled already
	 */
	synchronized boolean schedule() {
		boolean due = !this.scheduled && !this.replaced && hasWork();
		this.scheduled |= due;
		return due;
	}

	/**
	 * Ends the processing by a worker, which schedules the queue again if need be.
	 */
	synchronized void unschedule() {
		this.scheduled = false;
	}

	private boolean hasWork() {
		return this.signaled || !this.toRelease.isEmpty() || (this.awaited == null && hasCommitted());
	}

	synchronized boolean hasCommitted() {
		return this.members.values().stream().anyMatch(KeyMember::isCommitted);
	}

	/**
	 * Returns whether the queue can be forgotten.
	 */
	synchronized boolean isUnused() {
		return !this.scheduled && this.reserved == 0 && this.members.isEmpty() && !hasWork();
	}

	/**
	 * Returns the committed events, in the order of their rows, and clears the request
	 * for a check: a check that begins now sees the change that led to it.
	 */
	synchronized List<KeyMember> beginCheck() {
		this.signaled = false;
		return this.members.values().stream().filter(KeyMember::isCommitted).toList();
	}

	/**
	 * Compares the events that were committed when a check began with the first row that
	 * the check has found.
	 */
	synchronized HeadCheck check(List<KeyMember> candidates, @Nullable Head head) {
		if (this.replaced) {
			return new HeadCheck(Verdict.WAIT, null);
		}
		for (KeyMember candidate : candidates) {
			long row = candidate.event().row();
			if (head != null && head.row() == row) {
				boolean ours = this.lease.claimId().equals(head.claimId()) && !head.due() && !candidate.isLate();
				return ours ? new HeadCheck(Verdict.PUBLISH, candidate) : new HeadCheck(Verdict.RELEASE, null);
			}
			if (head != null && head.row() < row) {
				Verdict claimOrRelease = (head.due() && !candidate.isLate()) ? Verdict.CLAIM : Verdict.RELEASE;
				return new HeadCheck(awaits(head) ? Verdict.WAIT : claimOrRelease, null);
			}
			// Delivered or removed by others.
			remove(row);
		}
		if (head == null || (head.claimId() != null && awaits(head))) {
			return new HeadCheck(Verdict.WAIT, null);
		}
		return new HeadCheck(head.due() ? Verdict.CLAIM : Verdict.WAIT, null);
	}

	/**
	 * Returns whether a first row belongs to a transaction of this process whose end has
	 * not been reported yet.
	 */
	private boolean awaits(Head head) {
		KeyMember member = this.members.get(head.row());
		if (member == null || head.due() || !this.lease.claimId().equals(head.claimId())) {
			return false;
		}
		if (!member.isCommitted()) {
			this.awaited = head.row();
		}
		return true;
	}

	/**
	 * Removes an event that has been settled. If it was the last committed one, the key
	 * is checked for events without a lease.
	 */
	synchronized void settled(long row) {
		remove(row);
		this.signaled |= !hasCommitted();
	}

	private void remove(long row) {
		KeyMember removed = this.members.remove(row);
		if (removed != null) {
			this.capacity.free(List.of(removed.event().event()));
		}
	}

	/**
	 * Ends the use of this queue: its claim id is not used for further events.
	 * @return the events to release: the committed ones, and those of earlier queues
	 */
	synchronized List<LeasedEvent> replace() {
		this.replaced = true;
		List<LeasedEvent> released = new ArrayList<>(takeReleases());
		this.members.values().stream().filter(KeyMember::isCommitted).map(KeyMember::event).forEach(released::add);
		released.forEach((event) -> remove(event.row()));
		return released;
	}

}
