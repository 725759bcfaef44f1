package dev.idempotent.outbox.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Replaced by {@link EventTable}: goes with the old relay.
 */
public final class JdbcOrderedStore implements OrderedOutboxStore {

	/**
	 * Creates a store on tables that one of the scripts beside this class has created.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 * @param encryption how payloads are protected
	 */
	public JdbcOrderedStore(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
	}

	@Override
	public List<SerializedEvent> append(List<OrderedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Map<Long, Head> heads(Collection<Long> keyHashes) {
		throw new UnsupportedOperationException();
	}

	@Override
	public List<LeasedEvent> claim(Map<Long, EventLease> leases, KeyLimits limits) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int delivered(List<LeasedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int release(List<LeasedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int postpone(List<FailedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int deadLetter(List<FailedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public int block(List<FailedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public HeadScan scan(long after, int limit) {
		throw new UnsupportedOperationException();
	}

}
