package dev.idempotent.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One of many threads that use the same events: takes random steps, even with events that
 * it has lost and with those that were never committed.
 */
public final class OutboxStormRider {

	private static final Duration LONG = Duration.ofMinutes(10);

	private final OutboxStorm storm;

	private final OutboxStore store;

	private final TransactionTemplate transaction;

	private final Random random;

	private final List<LeasedEvent> held = new ArrayList<>();

	public OutboxStormRider(OutboxStorm storm, int seed) {
		this.storm = storm;
		this.store = storm.tested().store();
		this.transaction = new TransactionTemplate(storm.tested().transactions());
		this.random = new Random(seed);
	}

	public void ride(int steps) {
		for (int i = 0; i < steps; i++) {
			step();
		}
	}

	private void step() {
		switch (this.random.nextInt(20)) {
			case 0, 1, 2, 3 -> this.storm.attempt("append", this::append);
			case 4, 5, 6, 7, 8 -> this.storm.attempt("claim", this::claim);
			case 9 -> this.storm.tested().passTime(this.storm.publisher());
			case 10 -> this.storm.attempt("moveDelayedToWaiting", () -> this.store.moveDelayedToWaiting(10));
			case 11 -> insert();
			default -> settle();
		}
	}

	private int append() {
		List<SerializedEvent> events = IntStream.rangeClosed(0, this.random.nextInt(5))
			.mapToObj((i) -> OutboxSamples.event(topic(), null, "event", new byte[] { 1 }, Map.of()))
			.toList();
		EventLease lease = this.random.nextBoolean() ? EventLease.by("rider", LONG) : null;
		boolean commit = this.random.nextInt(4) > 0;
		List<SerializedEvent> rows = this.transaction.execute((status) -> {
			if (!commit) {
				status.setRollbackOnly();
			}
			return this.store.append(events, lease);
		});
		if (commit) {
			this.storm.isCommitted(events.stream().map(SerializedEvent::id).toList());
		}
		if (lease != null) {
			rows.forEach((row) -> this.held.add(new LeasedEvent(row, lease.claimId(), false)));
		}
		return rows.size();
	}

	private void insert() {
		UUID id = UUID.randomUUID();
		this.storm.tested().insert(id, topic(), this.random.nextBoolean() ? LONG : Duration.ZERO);
		this.storm.isCommitted(List.of(id));
	}

	private int claim() {
		ClaimScope scope = new ClaimScope(this.random.nextBoolean(), 0, Set.of(this.storm.publisher()),
				1 + this.random.nextInt(8));
		List<LeasedEvent> claimed = this.store.claim(EventLease.by("rider", LONG), scope);
		this.held.addAll(claimed);
		return claimed.size();
	}

	private void settle() {
		List<LeasedEvent> batch = batch();
		switch (this.random.nextInt(7)) {
			case 0 -> this.storm.attempt("release", () -> this.store.release(batch));
			case 1, 2 -> this.storm.attempt("postpone", () -> this.store.postpone(batch.stream()
				.map((event) -> new FailedEvent(event, "broken", this.random.nextBoolean() ? LONG : Duration.ZERO))
				.toList()));
			case 3 -> this.storm.attempt("deadLetter", () -> this.store
				.deadLetter(batch.stream().map((event) -> new FailedEvent(event, "broken")).toList()));
			default -> this.storm.isDeleted(batch, this.storm.attempt("delivered", () -> this.store.delivered(batch)));
		}
	}

	/**
	 * A few events in any order, each row once. Half of them are used again.
	 */
	private List<LeasedEvent> batch() {
		List<LeasedEvent> batch = new ArrayList<>();
		Set<Long> rows = new HashSet<>();
		for (int i = this.random.nextInt(6); i >= 0 && !this.held.isEmpty(); i--) {
			int index = this.random.nextInt(this.held.size());
			LeasedEvent event = this.random.nextBoolean() ? this.held.get(index) : this.held.remove(index);
			if (rows.add(event.event().sequence())) {
				batch.add(event);
			}
		}
		return batch;
	}

	private String topic() {
		return this.storm.publisher() + ":orders";
	}

}
