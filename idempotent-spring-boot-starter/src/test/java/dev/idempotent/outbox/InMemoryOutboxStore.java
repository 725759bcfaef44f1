package dev.idempotent.outbox;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxRow.Place;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The life of an event in its simplest form: the model that stores are compared with.
 * Takes part in the transaction of the calling thread.
 */
public final class InMemoryOutboxStore implements OutboxStore {

	private final Map<Place, SortedMap<Long, Entry>> places = Map.of(Place.EVENT, new TreeMap<>(), Place.WAITING,
			new TreeMap<>(), Place.DEAD, new TreeMap<>());

	private final InstantSource clock = InstantSource.system();

	private long rows;

	@Override
	public Object transactionResource() {
		return this;
	}

	@Override
	public boolean leasesAtAppend() {
		return true;
	}

	@Override
	public @Nullable UUID mark() {
		return null;
	}

	@Override
	public boolean unmark(UUID mark) {
		return true;
	}

	@Override
	public synchronized List<SerializedEvent> append(List<SerializedEvent> events, @Nullable EventLease lease) {
		boolean pending = TransactionSynchronizationManager.isSynchronizationActive();
		List<Entry> added = events.stream().map((event) -> add(event, lease, Duration.ZERO, !pending)).toList();
		if (pending) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCompletion(int status) {
					end(added, status == STATUS_COMMITTED);
				}
			});
		}
		return added.stream().map((entry) -> entry.event).toList();
	}

	@Override
	public synchronized void appendDelayed(List<DelayedEvent> events) {
		events.forEach((delayed) -> {
			long row = append(List.of(delayed.event()), null).get(0).sequence();
			Entry entry = Objects.requireNonNull(at(Place.EVENT).remove(row));
			entry.availableAt = in(delayed.delay());
			at(Place.WAITING).put(row, entry);
		});
	}

	/**
	 * Inserts an event without a lease that is due after a delay.
	 */
	synchronized void insert(SerializedEvent event, Duration delay) {
		add(event, null, delay, true);
	}

	private Entry add(SerializedEvent event, @Nullable EventLease lease, Duration delay, boolean committed) {
		Entry entry = new Entry(event.withRow(++this.rows, 0), in(delay));
		entry.committed = committed;
		if (lease != null) {
			entry.hold(lease, in(lease.duration()));
		}
		at(Place.EVENT).put(this.rows, entry);
		return entry;
	}

	private synchronized void end(List<Entry> added, boolean committed) {
		added.forEach((entry) -> entry.committed = committed);
		Stream.of(Place.EVENT, Place.WAITING)
			.forEach((place) -> at(place).values().removeIf((entry) -> !committed && added.contains(entry)));
	}

	@Override
	public synchronized List<LeasedEvent> claim(EventLease lease, ClaimScope scope) {
		Predicate<Entry> due = (entry) -> entry.committed && !entry.availableAt.isAfter(in(Duration.ZERO))
				&& entry.event.sequence() > (scope.waiting() ? 0 : scope.above())
				&& scope.publishers().contains(entry.event.publisher()) && !scope.except().contains(entry.event.topic())
				&& (scope.topic() == null || scope.topic().equals(entry.event.topic()));
		Stream<Entry> found = at(scope.waiting() ? Place.WAITING : Place.EVENT).values().stream().filter(due);
		long[] bytes = { 0 };
		List<Entry> taken = (scope.waiting() ? found.sorted(Comparator.comparing((entry) -> entry.availableAt)) : found)
			.limit(scope.limit())
			.takeWhile((entry) -> {
				long before = bytes[0];
				bytes[0] += entry.event.payload().length;
				return before < scope.bytes();
			})
			.sorted(Comparator.comparing((entry) -> entry.event.sequence()))
			.toList();
		taken.forEach((entry) -> entry.hold(lease, in(lease.duration())));
		return taken.stream()
			.map((entry) -> (entry.event.attempts() > scope.attempts()) ? withoutPayload(entry.event) : entry.event)
			.map((event) -> new LeasedEvent(event, lease.claimId(), scope.waiting()))
			.toList();
	}

	@Override
	public synchronized List<LeasedEvent> committed(List<LeasedEvent> events) {
		return events.stream().filter((held) -> {
			Entry entry = at(Place.EVENT).get(held.row());
			return entry != null && entry.committed && held.claimId().equals(entry.claimId);
		}).toList();
	}

	@Override
	public synchronized long lastRow(long above) {
		return at(Place.EVENT).isEmpty() ? above : Math.max(above, at(Place.EVENT).lastKey());
	}

	@Override
	public OptionalLong lowWaterMark() {
		return OptionalLong.of(0);
	}

	@Override
	public synchronized int delivered(List<LeasedEvent> events) {
		return each(events, (held, entry) -> remove(held));
	}

	@Override
	public synchronized int release(List<LeasedEvent> events) {
		return each(events, (held, entry) -> {
			entry.giveBack(in(Duration.ZERO));
			entry.event = entry.event.withRow(entry.event.sequence(), entry.event.attempts() - 1);
		});
	}

	@Override
	public synchronized int postpone(List<FailedEvent> events) {
		return events.stream().mapToInt((waiting) -> each(List.of(waiting.leased()), (held, entry) -> {
			remove(held);
			entry.giveBack(in(waiting.delay()));
			entry.event = entry.event.withRow(entry.event.sequence(),
					entry.event.attempts() - (waiting.counted() ? 0 : 1));
			entry.reason = waiting.reason();
			at(Place.WAITING).put(entry.event.sequence(), entry);
		})).sum();
	}

	@Override
	public synchronized int deadLetter(List<FailedEvent> events) {
		return events.stream().mapToInt((failed) -> each(List.of(failed.leased()), (held, entry) -> {
			remove(held);
			entry.giveBack(in(Duration.ZERO));
			entry.reason = failed.reason();
			at(Place.DEAD).put(entry.event.sequence(), entry);
		})).sum();
	}

	@Override
	public synchronized int moveDelayedToWaiting(int limit) {
		List<Entry> delayed = at(Place.EVENT).values()
			.stream()
			.filter((entry) -> entry.committed && entry.claimId == null && entry.availableAt.isAfter(in(Duration.ZERO)))
			.limit(limit)
			.toList();
		delayed.forEach((entry) -> at(Place.WAITING).put(entry.event.sequence(), entry));
		at(Place.EVENT).values().removeAll(delayed);
		return delayed.size();
	}

	synchronized void passTime(String publisher) {
		Stream.of(Place.EVENT, Place.WAITING)
			.flatMap((place) -> at(place).values().stream())
			.filter((entry) -> entry.event.publisher().equals(publisher))
			.forEach((entry) -> entry.availableAt = Instant.EPOCH.plusMillis(entry.event.sequence()));
	}

	synchronized List<OutboxRow> rows(Place place, String publisher) {
		return at(place).values()
			.stream()
			.filter((entry) -> entry.committed && entry.event.publisher().equals(publisher))
			.map((entry) -> new OutboxRow(entry.event, entry.claimId, entry.owner, entry.reason))
			.toList();
	}

	private int each(List<LeasedEvent> events, BiConsumer<LeasedEvent, Entry> step) {
		int count = 0;
		for (LeasedEvent held : new ArrayList<>(events)) {
			Entry entry = table(held).get(held.event().sequence());
			if (entry != null && held.claimId().equals(entry.claimId)) {
				step.accept(held, entry);
				count++;
			}
		}
		return count;
	}

	private void remove(LeasedEvent held) {
		table(held).remove(held.event().sequence());
	}

	private SortedMap<Long, Entry> table(LeasedEvent held) {
		return at(held.waiting() ? Place.WAITING : Place.EVENT);
	}

	private SortedMap<Long, Entry> at(Place place) {
		return Objects.requireNonNull(this.places.get(place));
	}

	private Instant in(Duration time) {
		return this.clock.instant().plus(time);
	}

	private static SerializedEvent withoutPayload(SerializedEvent event) {
		return new SerializedEvent(event.id(), event.sequence(), event.topic(), event.key(), event.type(), new byte[0],
				event.storedHeaders(), event.attempts());
	}

	private static final class Entry {

		private SerializedEvent event;

		private Instant availableAt;

		private boolean committed;

		private @Nullable UUID claimId;

		private @Nullable String owner;

		private @Nullable String reason;

		private Entry(SerializedEvent event, Instant availableAt) {
			this.event = event;
			this.availableAt = availableAt;
		}

		private void hold(EventLease lease, Instant end) {
			this.event = this.event.withRow(this.event.sequence(), this.event.attempts() + 1);
			this.claimId = lease.claimId();
			this.owner = lease.owner();
			this.availableAt = end;
		}

		private void giveBack(Instant available) {
			this.claimId = null;
			this.owner = null;
			this.availableAt = available;
		}

	}

}
