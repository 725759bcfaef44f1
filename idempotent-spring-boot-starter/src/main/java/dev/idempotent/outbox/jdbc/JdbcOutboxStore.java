package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.NonTransactionalConnections;
import dev.idempotent.jdbc.Statements;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventInsert.InsertedRow;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.util.Assert;

/**
 * Stores events in tables of the application's database: PostgreSQL, MySQL, MariaDB or
 * H2. Instances use them concurrently without waiting for each other.
 */
public final class JdbcOutboxStore implements OutboxStore {

	private final DataSource dataSource;

	private final OutboxDatabase database;

	private final OutboxTables tables;

	private final EventEncryption encryption;

	private final LowWaterMark lowWaterMark;

	/**
	 * Creates a store on tables that one of the scripts beside this class has created.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 * @param encryption how payloads are protected
	 */
	public JdbcOutboxStore(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
		this.dataSource = NonTransactionalConnections.withoutTransactions(dataSource);
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
		this.encryption = new EventEncryption(encryption);
		this.lowWaterMark = new LowWaterMark(this.database, tables, LowWaterMark.INTERVAL, LowWaterMark.LIFETIME);
	}

	@Override
	public Object transactionResource() {
		return this.dataSource;
	}

	@Override
	public boolean leasesAtAppend() {
		return kindInTransaction() != Database.H2;
	}

	/**
	 * PostgreSQL rejects all further statements of a transaction that has failed.
	 */
	@Override
	public @Nullable UUID mark() {
		Database kind = kindInTransaction();
		if (kind == Database.POSTGRESQL) {
			return null;
		}
		UUID mark = UUID.randomUUID();
		int inserted = inserting((connection) -> Statements.update(connection,
				"insert into " + this.tables.transaction() + " (id) values (?)", kind.parameter(mark)));
		Assert.state(inserted == 1, "A mark was not inserted");
		return mark;
	}

	@Override
	public boolean unmark(UUID mark) {
		Database kind = kindInTransaction();
		return this.database.join((connection) -> Statements.update(connection,
				"delete from " + this.tables.transaction() + " where id = ?", kind.parameter(mark))) == 1;
	}

	private Database kindInTransaction() {
		return this.database.join(this.database::kind);
	}

	@Override
	public List<SerializedEvent> append(List<SerializedEvent> events, @Nullable EventLease lease) {
		List<SerializedEvent> encrypted = this.encryption.encrypt(events);
		List<SerializedEvent> rows = inserting((connection) -> EventInsert
			.unordered(this.database.kind(connection), this.tables)
			.insert(connection, encrypted.stream().map((event) -> new InsertedRow(event, null, lease)).toList()));
		return (encrypted == events) ? rows : withRows(events, rows);
	}

	private <T> T inserting(Function<Connection, T> insert) {
		try {
			return this.database.join(insert);
		}
		catch (InvalidDataAccessResourceUsageException ex) {
			throw new InvalidDataAccessResourceUsageException(
					"No event was appended: " + this.tables.missing() + ". " + OutboxTables.howToCreate(), ex);
		}
	}

	@Override
	public void appendDelayed(List<DelayedEvent> events) {
		List<SerializedEvent> encrypted = this.encryption.encrypt(events.stream().map(DelayedEvent::event).toList());
		List<InsertedRow> rows = IntStream.range(0, events.size())
			.mapToObj((i) -> new InsertedRow(encrypted.get(i), null, null, events.get(i).delay().toMillis()))
			.toList();
		inserting((connection) -> {
			new DelayedInsert(this.database.kind(connection), this.tables).insert(connection, rows);
			return rows;
		});
	}

	/**
	 * Returns the events as they were given, so that those handed over need not be
	 * decrypted.
	 */
	private static List<SerializedEvent> withRows(List<SerializedEvent> events, List<SerializedEvent> rows) {
		return IntStream.range(0, events.size())
			.mapToObj((i) -> events.get(i).withRow(rows.get(i).sequence(), rows.get(i).attempts()))
			.toList();
	}

	@Override
	public List<LeasedEvent> claim(EventLease lease, ClaimScope scope) {
		EventClaims claims = claims();
		List<Long> ids = claimRows((connection) -> claims.claim(connection, lease, scope));
		List<EventRow> rows = ids.isEmpty() ? List.of()
				: this.database.runInTransaction((connection) -> claims.read(connection, lease, scope, ids));
		return rows.stream().map((row) -> leased(row, lease, scope)).toList();
	}

	private List<Long> claimRows(Function<Connection, List<Long>> claim) {
		try {
			return this.database.runInTransaction(claim);
		}
		catch (DataAccessException ex) {
			// The server may have lost the latest values of the sequence.
			this.lowWaterMark.reset();
			throw ex;
		}
	}

	private LeasedEvent leased(EventRow stored, EventLease lease, ClaimScope scope) {
		boolean hasPayload = stored.event().attempts() <= scope.attempts();
		EventRow row = hasPayload ? this.encryption.decrypt(stored) : stored;
		return new LeasedEvent(row.event(), lease.claimId(), scope.waiting(), stored.event().payload().length,
				row.unreadable(), null);
	}

	@Override
	public List<LeasedEvent> committed(List<LeasedEvent> events) {
		LeasedRows rows = leased();
		Map<Long, LeasedEvent> found = this.database.query((connection) -> rows.read(connection, events));
		return events.stream().filter((event) -> event.equals(found.get(event.row()))).toList();
	}

	@Override
	public long lastRow(long above) {
		EventClaims claims = claims();
		return this.database.runInTransaction((connection) -> claims.lastRow(connection, above));
	}

	@Override
	public OptionalLong lowWaterMark() {
		return switch (this.database.kind()) {
			case POSTGRESQL -> this.lowWaterMark.advance();
			case MYSQL -> OptionalLong.empty();
			case H2 -> OptionalLong.of(0);
		};
	}

	@Override
	public int delivered(List<LeasedEvent> events) {
		LeasedRows rows = leased();
		return eachTable(events, LeasedEvent::waiting, (waiting, some) -> this.database
			.runInTransaction((connection) -> rows.delete(connection, waiting, some)));
	}

	@Override
	public int release(List<LeasedEvent> events) {
		LeasedRows rows = leased();
		return eachTable(events, LeasedEvent::waiting, (waiting, some) -> this.database.runInTransaction(
				(connection) -> rows.release(connection, waiting, rows.lock(connection, waiting, some).keySet())));
	}

	@Override
	public int postpone(List<FailedEvent> events) {
		EventMoves moves = moves();
		return eachTable(events, (event) -> event.leased().waiting(), (waiting, some) -> this.database.move(moves,
				(move, connection) -> move.toWaiting(connection, waiting, some)));
	}

	@Override
	public int deadLetter(List<FailedEvent> events) {
		EventMoves moves = moves();
		return eachTable(events, (event) -> event.leased().waiting(), (waiting, some) -> this.database.move(moves,
				(move, connection) -> move.toDead(connection, waiting, some)));
	}

	@Override
	public int moveDelayedToWaiting(int limit) {
		EventMoves moves = moves();
		return this.database.move(moves,
				(move, connection) -> move.delayedToWaiting(connection, this.lowWaterMark.current(), limit));
	}

	private static <E> int eachTable(List<E> events, Predicate<E> waiting, BiFunction<Boolean, List<E>, Integer> step) {
		Map<Boolean, List<E>> tables = events.stream().collect(Collectors.partitioningBy(waiting));
		return tables.entrySet()
			.stream()
			.filter((table) -> !table.getValue().isEmpty())
			.mapToInt((table) -> step.apply(table.getKey(), table.getValue()))
			.sum();
	}

	private EventClaims claims() {
		return new EventClaims(this.database.kind(), this.tables);
	}

	private LeasedRows leased() {
		return new LeasedRows(this.database.kind(), this.tables);
	}

	private EventMoves moves() {
		return new EventMoves(this.database.kind(), this.tables);
	}

}
