package dev.idempotent.outbox.crash;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The control of the crash run, which makes the head check useless: as the first row of a
 * key, it shows the relay its own first row instead of one that others lease or that
 * waits.
 */
final class UncheckedStore implements OrderedOutboxStore {

	private static final String OWN = "select key_hash, id, claim_id from outbox_ordered where claimed_by = ? "
			+ "order by id desc";

	private final OrderedOutboxStore store;

	private final Supplier<JdbcClient> database;

	private volatile String owner = "";

	UncheckedStore(OrderedOutboxStore store, Supplier<JdbcClient> database) {
		this.store = store;
		this.database = database;
	}

	@Override
	public Map<Long, Head> heads(Collection<Long> keyHashes) {
		Map<Long, Head> heads = new HashMap<>(this.store.heads(keyHashes));
		this.database.get().sql(OWN).param(this.owner).query((row) -> {
			Head own = new Head(row.getLong(2), UUID.fromString(row.getString(3)), false);
			heads.computeIfPresent(row.getLong(1), (key, head) -> head.due() ? head : own);
		});
		return heads;
	}

	@Override
	public List<SerializedEvent> append(List<OrderedEvent> events) {
		for (OrderedEvent event : events) {
			EventLease lease = event.lease();
			this.owner = (lease != null) ? lease.owner() : this.owner;
		}
		return this.store.append(events);
	}

	@Override
	public List<LeasedEvent> claim(Map<Long, EventLease> leases, KeyLimits limits) {
		leases.values().forEach((lease) -> this.owner = lease.owner());
		return this.store.claim(leases, limits);
	}

	@Override
	public HeadScan scan(long after, int limit) {
		return this.store.scan(after, limit);
	}

	@Override
	public int delivered(List<LeasedEvent> events) {
		return this.store.delivered(events);
	}

	@Override
	public int release(List<LeasedEvent> events) {
		return this.store.release(events);
	}

	@Override
	public int postpone(List<FailedEvent> events) {
		return this.store.postpone(events);
	}

	@Override
	public int block(List<FailedEvent> events) {
		return this.store.block(events);
	}

	@Override
	public int deadLetter(List<FailedEvent> events) {
		return this.store.deadLetter(events);
	}

}
