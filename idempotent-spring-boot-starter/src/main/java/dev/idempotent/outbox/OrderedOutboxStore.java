package dev.idempotent.outbox;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Stores events that are delivered in the order of their rows within their topic and key,
 * identified by a hash. Internal to this library: applications cannot replace it. Rows
 * are never reused, and increase with each append. {@link #append} participates in the
 * transaction of the calling thread; the other methods commit in a transaction of their
 * own. An event that waits for its next attempt keeps its row. Failures are
 * {@link org.springframework.dao.DataAccessException}s.
 */
public interface OrderedOutboxStore extends EventSettlement {

	/**
	 * Inserts events in the transaction of the calling thread, in this order.
	 * @param events with or without leases
	 * @return the same events with their rows
	 */
	List<SerializedEvent> append(List<OrderedEvent> events);

	/**
	 * Reads the first committed row of each key, whether it is leased or not.
	 * @param keyHashes the keys
	 * @return the heads by key; keys without rows are absent
	 */
	Map<Long, Head> heads(Collection<Long> keyHashes);

	/**
	 * Leases the first events of each key whose head is due and not locked: the head and
	 * the events behind it, up to the first one that is leased, waiting or locked, or
	 * that has had {@link KeyLimits#trustedAttempts()} attempts. Counts an attempt for
	 * each. The heads of all keys are leased before the events behind them.
	 * @param leases the lease for each key
	 * @param limits how many events; keys that the limit of bytes leaves out have to be
	 * claimed again
	 * @return by key, in the order of their rows; also events that cannot be delivered
	 */
	List<LeasedEvent> claim(Map<Long, EventLease> leases, KeyLimits limits);

	/**
	 * Makes keys wait for an operator: events without a next attempt keep their rows, so
	 * that no later event of their keys is delivered.
	 * @param events failed events
	 * @return how many were still leased
	 */
	int block(List<FailedEvent> events);

	/**
	 * Searches the heads of the next keys for due ones.
	 * @param after only keys above this hash; -1 for the first ones
	 * @param limit how many keys to read
	 * @return the due heads among them
	 */
	HeadScan scan(long after, int limit);

	/**
	 * The first row of a key.
	 *
	 * @param row the row
	 * @param claimId the claim that leases or leased it, or {@code null} for none
	 * @param due whether it can be claimed: neither leased nor waiting
	 */
	record Head(long row, @Nullable UUID claimId, boolean due) {
	}

	/**
	 * A part of all heads.
	 *
	 * @param due the topics of due heads by key
	 * @param last the last key that was read, to continue after it
	 * @param end whether there are no further keys
	 */
	record HeadScan(Map<Long, String> due, long last, boolean end) {
	}

	/**
	 * The limits of a claim.
	 *
	 * @param perKey how many events of each key at most
	 * @param bytes no further event is claimed once the payloads have this many bytes; at
	 * least one event is claimed
	 * @param trustedAttempts only the head of a key is claimed if it has had as many
	 * attempts before
	 * @param attempts an event with more attempts than this comes without its payload
	 */
	record KeyLimits(int perKey, long bytes, int trustedAttempts, int attempts) {
	}

}
