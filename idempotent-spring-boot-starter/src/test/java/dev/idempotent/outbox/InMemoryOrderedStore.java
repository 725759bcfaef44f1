package dev.idempotent.outbox;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiConsumer;

import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The life of an ordered event in its simplest form: the model that stores are compared
 * with. Takes part in the transaction of the calling thread.
 */
public final class InMemoryOrderedStore implements OrderedOutboxStore {

	private final TreeMap<Long, TreeMap<Long, Entry>> keys = new TreeMap<>();

	private final List<Entry> dead = new ArrayList<>();

	private long rows;

	@Override
	public synchronized List<SerializedEvent> append(List<OrderedEvent> events) {
		List<Entry> added = events.stream().map((event) -> new Entry(event, ++this.rows)).toList();
		added.forEach(
				(entry) -> this.keys.computeIfAbsent(entry.keyHash, (key) -> new TreeMap<>()).put(entry.row, entry));
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCompletion(int status) {
					end(added, status == STATUS_COMMITTED);
				}
			});
		}
		else {
			end(added, true);
		}
		return added.stream().map((entry) -> entry.event).toList();
	}

	private synchronized void end(List<Entry> added, boolean committed) {
		added.forEach((entry) -> {
			entry.committed = committed;
			if (!committed) {
				remove(entry);
			}
		});
	}

	private void remove(Entry entry) {
		this.keys.getOrDefault(entry.keyHash, new TreeMap<>()).remove(entry.row);
	}

	private List<Entry> committed(long key) {
		return this.keys.getOrDefault(key, new TreeMap<>()).values().stream().filter((each) -> each.committed).toList();
	}

	@Override
	public synchronized Map<Long, Head> heads(Collection<Long> keyHashes) {
		Map<Long, Head> heads = new HashMap<>();
		keyHashes.forEach((key) -> committed(key).stream()
			.findFirst()
			.ifPresent((entry) -> heads.put(key, new Head(entry.row, entry.claimId, entry.due()))));
		return heads;
	}

	@Override
	public synchronized List<LeasedEvent> claim(Map<Long, EventLease> leases, KeyLimits limits) {
		TreeMap<Integer, List<Entry>> byPosition = new TreeMap<>();
		new TreeMap<>(leases).keySet().forEach((key) -> {
			int position = 0;
			boolean alone = false;
			for (Entry entry : committed(key)) {
				boolean suspect = entry.event.attempts() >= limits.trustedAttempts();
				if (!entry.due() || alone || position == limits.perKey() || (suspect && position > 0)) {
					break;
				}
				alone = suspect;
				byPosition.computeIfAbsent(position++, (each) -> new ArrayList<>()).add(entry);
			}
		});
		List<Entry> claimed = new ArrayList<>();
		long bytes = 0;
		for (Entry entry : byPosition.values().stream().flatMap(List::stream).toList()) {
			if (bytes < limits.bytes()) {
				claimed.add(entry);
				bytes += entry.event.payload().length;
			}
		}
		claimed.forEach((entry) -> entry.lease(Objects.requireNonNull(leases.get(entry.keyHash))));
		return claimed.stream()
			.sorted(Comparator.<Entry>comparingLong((entry) -> entry.keyHash).thenComparingLong((entry) -> entry.row))
			.map((entry) -> entry.leased(limits.attempts()))
			.toList();
	}

	@Override
	public synchronized int delivered(List<LeasedEvent> events) {
		return each(events, (held, entry) -> remove(entry));
	}

	@Override
	public synchronized int release(List<LeasedEvent> events) {
		return each(events, (held, entry) -> {
			entry.free(Instant.EPOCH, entry.reason);
			entry.event = entry.event.withRow(entry.event.sequence(), entry.event.attempts() - 1);
		});
	}

	@Override
	public synchronized int postpone(List<FailedEvent> events) {
		return eachFailed(events, (failed, entry) -> {
			entry.free(Instant.now().plus(failed.delay()), failed.reason());
			entry.event = entry.event.withRow(entry.event.sequence(),
					entry.event.attempts() - (failed.counted() ? 0 : 1));
		});
	}

	@Override
	public synchronized int deadLetter(List<FailedEvent> events) {
		return eachFailed(events, (failed, entry) -> {
			entry.free(Instant.EPOCH, failed.reason());
			remove(entry);
			this.dead.add(entry);
		});
	}

	@Override
	public synchronized int block(List<FailedEvent> events) {
		return eachFailed(events, (failed, entry) -> entry.free(Instant.MAX, failed.reason()));
	}

	@Override
	public synchronized HeadScan scan(long after, int limit) {
		Map<Long, String> due = new LinkedHashMap<>();
		List<Long> next = this.keys.tailMap(after, false)
			.keySet()
			.stream()
			.filter((key) -> !committed(key).isEmpty())
			.limit(limit)
			.toList();
		next.stream()
			.map((key) -> committed(key).get(0))
			.filter(Entry::due)
			.forEach((head) -> due.put(head.keyHash, head.event.topic()));
		return new HeadScan(due, next.isEmpty() ? after : next.get(next.size() - 1), next.size() < limit);
	}

	private int eachFailed(List<FailedEvent> events, BiConsumer<FailedEvent, Entry> step) {
		return events.stream()
			.mapToInt((failed) -> each(List.of(failed.leased()), (held, entry) -> step.accept(failed, entry)))
			.sum();
	}

	private int each(List<LeasedEvent> events, BiConsumer<LeasedEvent, Entry> step) {
		int count = 0;
		for (LeasedEvent held : events) {
			Entry entry = this.keys.getOrDefault(held.keyHash(), new TreeMap<>()).get(held.row());
			if (entry != null && held.claimId().equals(entry.claimId)) {
				step.accept(held, entry);
				count++;
			}
		}
		return count;
	}

	synchronized void passTime(String topic) {
		of(topic).filter((entry) -> !entry.availableAt.equals(Instant.MAX))
			.forEach((entry) -> entry.availableAt = Instant.EPOCH);
	}

	synchronized List<OrderedRowState> rows(String topic) {
		return of(topic)
			.map((entry) -> new OrderedRowState(entry.event, entry.keyHash, entry.row, entry.claimId, entry.owner,
					entry.reason, entry.availableAt.equals(Instant.MAX)))
			.toList();
	}

	synchronized List<TestedOrderedStore.DeadOrderedEvent> dead(String topic) {
		return this.dead.stream()
			.filter((entry) -> entry.event.topic().equals(topic))
			.map((entry) -> new TestedOrderedStore.DeadOrderedEvent(entry.event, entry.keyHash,
					String.valueOf(entry.reason)))
			.toList();
	}

	private java.util.stream.Stream<Entry> of(String topic) {
		return this.keys.values()
			.stream()
			.flatMap((key) -> key.values().stream())
			.filter((entry) -> entry.committed && entry.event.topic().equals(topic));
	}

	private static final class Entry {

		private final long keyHash;

		private final long row;

		private SerializedEvent event;

		private Instant availableAt = Instant.EPOCH;

		private boolean committed;

		private @Nullable UUID claimId;

		private @Nullable String owner;

		private @Nullable String reason;

		private Entry(OrderedEvent appended, long row) {
			this.keyHash = appended.keyHash();
			this.row = row;
			this.event = appended.event().withRow(row, 0);
			if (appended.lease() != null) {
				lease(appended.lease());
			}
		}

		private void lease(EventLease lease) {
			this.event = this.event.withRow(this.event.sequence(), this.event.attempts() + 1);
			this.claimId = lease.claimId();
			this.owner = lease.owner();
			this.availableAt = Instant.now().plus(lease.duration());
		}

		private void free(Instant available, @Nullable String why) {
			this.claimId = null;
			this.owner = null;
			this.availableAt = available;
			this.reason = why;
		}

		private boolean due() {
			return !this.availableAt.isAfter(Instant.now());
		}

		private LeasedEvent leased(int attempts) {
			SerializedEvent copy = (this.event.attempts() <= attempts) ? this.event
					: new SerializedEvent(this.event.id(), this.event.sequence(), this.event.topic(), this.event.key(),
							this.event.type(), new byte[0], this.event.storedHeaders(), this.event.attempts());
			return new LeasedEvent(copy, Objects.requireNonNull(this.claimId), new OrderedRow(this.keyHash, this.row));
		}

	}

}
