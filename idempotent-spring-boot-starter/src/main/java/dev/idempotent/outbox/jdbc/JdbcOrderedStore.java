package dev.idempotent.outbox.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventInsert.InsertedRow;
import dev.idempotent.outbox.jdbc.OrderedClaims.ClaimedRow;
import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Stores ordered events in a table of the application's database: PostgreSQL, MySQL,
 * MariaDB or H2.
 */
public final class JdbcOrderedStore implements OrderedOutboxStore {

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private final EventEncryption encryption;

	/**
	 * Creates a store on tables that one of the scripts beside this class has created.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 * @param encryption how payloads are protected
	 */
	public JdbcOrderedStore(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
		this.encryption = new EventEncryption(encryption);
	}

	@Override
	public List<SerializedEvent> append(List<OrderedEvent> events) {
		List<SerializedEvent> encrypted = this.encryption.encrypt(events.stream().map(OrderedEvent::event).toList());
		List<InsertedRow> inserted = IntStream.range(0, events.size())
			.mapToObj((i) -> new InsertedRow(encrypted.get(i), events.get(i).keyHash(), events.get(i).lease()))
			.toList();
		try {
			List<SerializedEvent> rows = this.database
				.join((connection) -> EventInsert.ordered(this.database.kind(connection), this.tables)
					.insert(connection, inserted));
			return IntStream.range(0, events.size())
				.mapToObj((i) -> events.get(i).event().withRow(rows.get(i).sequence(), rows.get(i).attempts()))
				.toList();
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new InvalidDataAccessResourceUsageException(
					"No event was appended: " + this.tables.missing() + ". " + OutboxTables.howToCreate(), ex);
		}
	}

	@Override
	public Map<Long, Head> heads(Collection<Long> keyHashes) {
		OrderedHeads heads = heads();
		return this.database.query((connection) -> heads.read(connection, keyHashes));
	}

	@Override
	public List<LeasedEvent> claim(Map<Long, EventLease> leases, KeyLimits limits) {
		OrderedClaims claims = new OrderedClaims(this.database.kind(), this.tables);
		List<OrderedRow> claimed = this.database
			.runInTransaction((connection) -> claims.claim(connection, leases, limits));
		List<ClaimedRow> rows = claimed.isEmpty() ? List.of()
				: this.database.runInTransaction((connection) -> claims.read(connection, leases, limits, claimed));
		return rows.stream()
			.map((row) -> leased(row, Objects.requireNonNull(leases.get(row.row().keyHash())), limits))
			.toList();
	}

	private LeasedEvent leased(ClaimedRow row, EventLease lease, KeyLimits limits) {
		EventRow stored = row.stored();
		boolean hasPayload = stored.event().attempts() <= limits.attempts();
		EventRow delivered = hasPayload ? this.encryption.decrypt(stored) : stored;
		return new LeasedEvent(delivered.event(), lease.claimId(), false, stored.event().payload().length,
				delivered.unreadable(), row.row());
	}

	@Override
	public int delivered(List<LeasedEvent> events) {
		OrderedRows rows = rows();
		return events.isEmpty() ? 0 : this.database.runInTransaction((connection) -> rows.delete(connection, events));
	}

	@Override
	public int release(List<LeasedEvent> events) {
		OrderedRows rows = rows();
		return events.isEmpty() ? 0 : this.database.runInTransaction((connection) -> rows.release(connection, events));
	}

	@Override
	public int postpone(List<FailedEvent> events) {
		OrderedRows rows = rows();
		return events.isEmpty() ? 0 : this.database.runInTransaction((connection) -> rows.postpone(connection, events));
	}

	@Override
	public int deadLetter(List<FailedEvent> events) {
		OrderedRows rows = rows();
		return events.isEmpty() ? 0
				: this.database.runInTransaction((connection) -> rows.deadLetter(connection, events));
	}

	@Override
	public int block(List<FailedEvent> events) {
		OrderedRows rows = rows();
		return events.isEmpty() ? 0 : this.database.runInTransaction((connection) -> rows.block(connection, events));
	}

	@Override
	public HeadScan scan(long after, int limit) {
		OrderedHeads heads = heads();
		return this.database.runInTransaction((connection) -> heads.scan(connection, after, limit));
	}

	private OrderedHeads heads() {
		return new OrderedHeads(this.database.kind(), this.tables);
	}

	private OrderedRows rows() {
		return new OrderedRows(this.database.kind(), this.tables);
	}

}
