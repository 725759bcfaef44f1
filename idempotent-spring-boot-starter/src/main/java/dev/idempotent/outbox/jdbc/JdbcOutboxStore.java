package dev.idempotent.outbox.jdbc;

import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Replaced by {@link EventTable}: goes with the old relay.
 */
public final class JdbcOutboxStore implements OutboxStore {

	private final EventTable table;

	/**
	 * Creates a store.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 * @param encryption how payloads are protected
	 */
	public JdbcOutboxStore(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
		this.table = new EventTable(dataSource, tables, encryption);
	}

	@Override
	public Object transactionResource() {
		return this.table.transactionResource();
	}

	@Override
	public boolean leasesAtAppend() {
		throw new UnsupportedOperationException();
	}

	@Override
	public @Nullable UUID mark() {
		throw new UnsupportedOperationException();
	}

	@Override
	public boolean unmark(UUID mark) {
		throw new UnsupportedOperationException();
	}

	@Override
	public List<SerializedEvent> append(List<SerializedEvent> events, @Nullable EventLease lease) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void appendDelayed(List<DelayedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public List<LeasedEvent> claim(EventLease lease, ClaimScope scope) {
		throw new UnsupportedOperationException();
	}

	@Override
	public List<LeasedEvent> committed(List<LeasedEvent> events) {
		throw new UnsupportedOperationException();
	}

	@Override
	public long lastRow(long above) {
		throw new UnsupportedOperationException();
	}

	@Override
	public OptionalLong lowWaterMark() {
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
	public int moveDelayedToWaiting(int limit) {
		throw new UnsupportedOperationException();
	}

}
