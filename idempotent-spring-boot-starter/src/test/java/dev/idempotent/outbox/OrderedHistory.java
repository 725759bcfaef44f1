package dev.idempotent.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A random sequence of steps on the events of three keys, executed on a store and on the
 * model. Does not depend on time: leases are long, and time passes for both.
 */
final class OrderedHistory {

	private static final int STEPS = 50;

	private static final Duration LONG = Duration.ofMinutes(10);

	private final int seed;

	private final Random random;

	private final TestedOrderedStore tested;

	private final InMemoryOrderedStore model = new InMemoryOrderedStore();

	private final String topic = "h" + UUID.randomUUID() + ":orders";

	private final List<String> keys = List.of("a", "b", "c");

	/**
	 * The same events in the store and in the model.
	 */
	private final List<LeasedEvent[]> held = new ArrayList<>();

	private final Map<Long, Long> rows = new HashMap<>();

	private final List<String> told = new ArrayList<>();

	OrderedHistory(int seed, TestedOrderedStore tested) {
		this.seed = seed;
		this.random = new Random(seed);
		this.tested = tested;
	}

	void play() {
		for (int i = 0; i < STEPS; i++) {
			switch (this.random.nextInt(8)) {
				case 0 -> passTime();
				case 1, 2 -> append();
				case 3, 4, 5 -> claim();
				default -> settle();
			}
			compare();
		}
	}

	private void passTime() {
		this.told.add("pass time");
		this.model.passTime(this.topic);
		this.tested.passTime(this.topic);
	}

	private void append() {
		EventLease lease = EventLease.by("owner", LONG);
		List<OrderedEvent> events = IntStream.rangeClosed(0, this.random.nextInt(4)).mapToObj((i) -> {
			OrderedEvent event = OrderedEvent.of(OutboxSamples.event(this.topic, oneOf(this.keys),
					"event " + this.told.size() + "/" + i, new byte[i], Map.of("trace", "" + i)));
			return this.random.nextBoolean() ? event.leasedBy(lease) : event;
		}).toList();
		boolean commit = this.random.nextInt(5) > 0;
		this.told.add("append " + events.size() + ", " + commit);
		new TransactionTemplate(this.tested.transactions()).executeWithoutResult((status) -> {
			List<SerializedEvent> real = this.tested.store().append(events);
			List<SerializedEvent> expected = this.model.append(events);
			for (int i = 0; i < events.size(); i++) {
				long key = events.get(i).keyHash();
				this.rows.put(expected.get(i).sequence(), real.get(i).sequence());
				assertThat(EventFacts.of(real.get(i))).isEqualTo(EventFacts.of(expected.get(i)));
				if (events.get(i).lease() != null) {
					this.held.add(
							new LeasedEvent[] { leased(real.get(i), lease, key), leased(expected.get(i), lease, key) });
				}
			}
			if (!commit) {
				status.setRollbackOnly();
			}
		});
	}

	private static LeasedEvent leased(SerializedEvent event, EventLease lease, long key) {
		return new LeasedEvent(event, lease.claimId(), new OrderedRow(key, event.sequence()));
	}

	private void claim() {
		Map<Long, EventLease> leases = new HashMap<>();
		this.keys.stream()
			.filter((key) -> this.random.nextInt(3) > 0)
			.forEach((key) -> leases.put(hash(key), EventLease.by("owner", LONG)));
		KeyLimits limits = new KeyLimits(1 + this.random.nextInt(4),
				this.random.nextBoolean() ? Long.MAX_VALUE : this.random.nextInt(5), 1 + this.random.nextInt(3),
				this.random.nextInt(4));
		this.told.add("claim " + leases.keySet() + " " + limits);
		List<LeasedEvent> expected = this.model.claim(leases, limits);
		List<LeasedEvent> real = this.tested.store().claim(leases, limits);
		assertThat(real.stream().map(OrderedHistory::facts).toList()).as(this::history)
			.isEqualTo(expected.stream().map(OrderedHistory::facts).toList());
		for (int i = 0; i < real.size(); i++) {
			this.held.add(new LeasedEvent[] { real.get(i), expected.get(i) });
		}
	}

	private static List<Object> facts(LeasedEvent event) {
		return List.of(event.keyHash(), event.claimId(), EventFacts.of(event.event()));
	}

	private void settle() {
		List<LeasedEvent[]> batch = IntStream.rangeClosed(0, this.random.nextInt(4))
			.filter((i) -> !this.held.isEmpty())
			.mapToObj((i) -> oneOf(this.held))
			.filter((event) -> this.rows.containsKey(event[1].row()))
			.distinct()
			.toList();
		Duration delay = this.random.nextBoolean() ? LONG : Duration.ZERO;
		switch (this.random.nextInt(6)) {
			case 0 -> settle("release", batch, OrderedOutboxStore::release);
			case 1 -> settle("postpone", batch, (store, events) -> store.postpone(failed(events, delay)));
			case 2 -> settle("dead-letter", batch, (store, events) -> store.deadLetter(failed(events, delay)));
			case 3 -> settle("block", batch, (store, events) -> store.block(failed(events, delay)));
			default -> settle("delivered", batch, OrderedOutboxStore::delivered);
		}
	}

	private void settle(String verb, List<LeasedEvent[]> batch,
			BiFunction<OrderedOutboxStore, List<LeasedEvent>, Integer> step) {
		// Two leases of one row are settled one after the other.
		for (LeasedEvent[] each : batch) {
			this.told.add(verb + " " + each[1].row());
			int expected = step.apply(this.model, List.of(each[1]));
			assertThat(step.apply(this.tested.store(), List.of(each[0]))).as(this::history).isEqualTo(expected);
		}
	}

	private static List<FailedEvent> failed(List<LeasedEvent> events, Duration delay) {
		return events.stream()
			.map((event) -> new FailedEvent(event, "why " + event.event().attempts(), delay))
			.toList();
	}

	private void compare() {
		assertThat(this.tested.rows(this.topic).stream().map(OrderedHistory::facts).toList()).as(this::history)
			.isEqualTo(this.model.rows(this.topic).stream().map(OrderedHistory::facts).toList());
		assertThat(this.tested.dead(this.topic).stream().map((dead) -> EventFacts.of(dead.event())).toList())
			.as(this::history)
			.isEqualTo(this.model.dead(this.topic).stream().map((dead) -> EventFacts.of(dead.event())).toList());
		List<Long> hashes = this.keys.stream().map(this::hash).toList();
		Map<Long, Head> expected = new HashMap<>();
		this.model.heads(hashes)
			.forEach((key, head) -> expected.put(key,
					new Head(Objects.requireNonNull(this.rows.get(head.row())), head.claimId(), head.due())));
		assertThat(this.tested.store().heads(hashes)).as(this::history).isEqualTo(expected);
	}

	private static List<Object> facts(OrderedRowState row) {
		return Arrays.asList(EventFacts.of(row.event()), row.keyHash(), row.claimId(), row.owner(), row.reason(),
				row.blocked());
	}

	private long hash(String key) {
		return OrderedEvent.hash(this.topic, key);
	}

	private <T> T oneOf(List<T> all) {
		return all.get(this.random.nextInt(all.size()));
	}

	private String history() {
		return "seed " + this.seed + ": " + String.join("; ", this.told);
	}

}
