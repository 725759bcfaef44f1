package dev.idempotent.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A random sequence of steps on the events of two publishers, executed on a store and on
 * the model. Does not depend on time: leases are long, and time passes for both.
 */
final class OutboxHistory {

	private static final int STEPS = 60;

	private static final int ALL = 1000;

	private static final Duration LONG = Duration.ofMinutes(10);

	private final int seed;

	private final Random random;

	private final TestedOutboxStore tested;

	private final InMemoryOutboxStore model = new InMemoryOutboxStore();

	private final ReadWriteLock others;

	private final String name = "h" + UUID.randomUUID();

	private final List<String> publishers = List.of(this.name + "-a", this.name + "-b");

	private final List<Twins> held = new ArrayList<>();

	private final List<long[]> rows = new ArrayList<>(List.of(new long[] { 0, 0 }));

	private final List<String> told = new ArrayList<>();

	OutboxHistory(int seed, TestedOutboxStore tested, ReadWriteLock others) {
		this.seed = seed;
		this.random = new Random(seed);
		this.tested = tested;
		this.others = others;
	}

	void play() {
		for (int i = 0; i < STEPS; i++) {
			int chance = this.random.nextInt(20);
			// Any history moves the delayed events of the others, too.
			Lock turn = (chance == 0) ? this.others.writeLock() : this.others.readLock();
			turn.lock();
			try {
				step(chance);
				compareRows();
			}
			finally {
				turn.unlock();
			}
		}
	}

	private void step(int chance) {
		switch (chance) {
			case 0 -> insertForLater();
			case 1, 2 -> passTime(oneOf(this.publishers));
			case 3, 4, 5, 6 -> append();
			case 7, 8, 9, 10, 11, 12 -> claim();
			default -> settle();
		}
	}

	private void insertForLater() {
		UUID id = UUID.randomUUID();
		String topic = oneOf(this.publishers) + ":orders";
		tell("insert for later " + id);
		// Events that other tests have left there.
		while (this.tested.store().moveDelayedToWaiting(ALL) > 0) {
			assertThat(this.model.moveDelayedToWaiting(ALL)).isZero();
		}
		this.model.insert(new SerializedEvent(id, 0, topic, null, "foreign", new byte[] { 1 },
				Map.of(SerializedEvent.CONTENT_TYPE, "application/json"), 0), LONG);
		this.tested.insert(id, topic, LONG);
		assertThat(this.tested.store().moveDelayedToWaiting(ALL)).as(this::history)
			.isEqualTo(this.model.moveDelayedToWaiting(ALL));
	}

	private void passTime(String publisher) {
		tell("pass time of " + publisher);
		this.model.passTime(publisher);
		this.tested.passTime(publisher);
	}

	private void append() {
		List<SerializedEvent> events = IntStream.rangeClosed(0, this.random.nextInt(4))
			.mapToObj((i) -> OutboxSamples.event(oneOf(this.publishers) + ":orders", "key " + i,
					"event " + this.told.size() + "/" + i, new byte[i], Map.of("trace", "" + i)))
			.toList();
		EventLease lease = this.random.nextBoolean() ? EventLease.by("owner", LONG) : null;
		boolean commit = this.random.nextInt(5) > 0;
		tell("append " + events.size() + ", " + (lease != null ? "leased" : "not leased") + ", " + commit);
		new TransactionTemplate(this.tested.transactions()).executeWithoutResult((status) -> {
			List<SerializedEvent> real = this.tested.store().append(events, lease);
			List<SerializedEvent> expected = this.model.append(events, lease);
			assertThat(facts(real)).as(this::history).isEqualTo(facts(expected));
			for (int i = 0; i < events.size(); i++) {
				this.rows.add(new long[] { real.get(i).sequence(), expected.get(i).sequence() });
				if (lease != null) {
					this.held.add(new Twins(new LeasedEvent(real.get(i), lease.claimId(), false),
							new LeasedEvent(expected.get(i), lease.claimId(), false)));
				}
			}
			if (!commit) {
				status.setRollbackOnly();
			}
		});
	}

	private void claim() {
		boolean waiting = this.random.nextBoolean();
		long[] above = this.random.nextInt(3) == 0 ? oneOf(this.rows) : this.rows.get(0);
		Set<String> some = this.random.nextBoolean() ? Set.copyOf(this.publishers) : Set.of(oneOf(this.publishers));
		int limit = waiting ? ALL : 1 + this.random.nextInt(5);
		EventLease lease = EventLease.by("owner", LONG);
		tell("claim " + (waiting ? "waiting" : limit + " above " + above[1]) + " of " + some);
		List<LeasedEvent> expected = this.model.claim(lease, new ClaimScope(waiting, above[1], some, limit));
		List<LeasedEvent> real = this.tested.store().claim(lease, new ClaimScope(waiting, above[0], some, limit));
		assertThat(EventFacts.ofHeld(real)).as(this::history).isEqualTo(EventFacts.ofHeld(expected));
		for (int i = 0; i < real.size(); i++) {
			this.held.add(new Twins(real.get(i), expected.get(i)));
		}
	}

	private void settle() {
		List<Twins> batch = batch();
		switch (this.random.nextInt(6)) {
			case 0 -> compare("release", batch, (store, events) -> store.release(events));
			case 1, 2 -> {
				Duration delay = this.random.nextBoolean() ? LONG : Duration.ZERO;
				compare("postpone", batch, (store, events) -> store
					.postpone(events.stream().map((event) -> failed(event, delay)).toList()));
			}
			case 3 -> compare("deadLetter", batch, (store, events) -> store
				.deadLetter(events.stream().map((event) -> failed(event, Duration.ZERO)).toList()));
			default -> compare("delivered", batch, (store, events) -> store.delivered(events));
		}
	}

	private void compare(String verb, List<Twins> batch, Verb step) {
		int expected = step.on(this.model, batch.stream().map(Twins::expected).toList());
		tell(verb + " " + batch.stream().map((each) -> each.expected().event().sequence()).toList() + " -> "
				+ expected);
		assertThat(step.on(this.tested.store(), batch.stream().map(Twins::real).toList())).as(this::history)
			.isEqualTo(expected);
	}

	private void compareRows() {
		for (Place place : Place.values()) {
			for (String publisher : this.publishers) {
				Function<OutboxRow, List<Object>> comparable = (row) -> Arrays.asList(EventFacts.of(row.event()),
						row.claimId(), row.owner(), row.reason());
				assertThat(this.tested.rows(place, publisher).stream().map(comparable).toList()).as(this::history)
					.isEqualTo(this.model.rows(place, publisher).stream().map(comparable).toList());
			}
		}
	}

	private List<Twins> batch() {
		List<Twins> batch = new ArrayList<>();
		Set<Long> once = new HashSet<>();
		for (int i = this.random.nextInt(4); i >= 0 && !this.held.isEmpty(); i--) {
			Twins twins = oneOf(this.held);
			if (once.add(twins.expected().event().sequence())) {
				batch.add(twins);
			}
		}
		return batch;
	}

	private static FailedEvent failed(LeasedEvent event, Duration delay) {
		return new FailedEvent(event, "why " + event.event().attempts(), delay);
	}

	private static List<EventFacts> facts(List<SerializedEvent> events) {
		return events.stream().map(EventFacts::of).toList();
	}

	private <T> T oneOf(List<T> values) {
		return values.get(this.random.nextInt(values.size()));
	}

	private void tell(String step) {
		this.told.add((this.told.size() + 1) + ". " + step);
	}

	private String history() {
		return "-Dfuzz.seed=%d%n%s%n".formatted(this.seed, String.join(System.lineSeparator(), this.told));
	}

	/**
	 * An event in the store and in the model.
	 */
	private record Twins(LeasedEvent real, LeasedEvent expected) {
	}

	private interface Verb {

		int on(OutboxStore store, List<LeasedEvent> events);

	}

}
