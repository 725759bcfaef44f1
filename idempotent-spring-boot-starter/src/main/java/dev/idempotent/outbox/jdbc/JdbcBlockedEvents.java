package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;

import javax.sql.DataSource;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;

/**
 * The ordered events without a next attempt that block their keys until an operator acts.
 * Changes them in batches, each in a transaction of its own; completed batches stay
 * committed. Failures are {@link org.springframework.dao.DataAccessException}s.
 */
public final class JdbcBlockedEvents {

	private static final int BATCH = 500;

	private static final OrderedRow FIRST = new OrderedRow(-1, 0);

	private final OutboxDatabase database;

	private final OutboxTables tables;

	/**
	 * Creates the blocked events of a store.
	 * @param dataSource the data source of the store
	 * @param tables the tables of the store
	 */
	public JdbcBlockedEvents(DataSource dataSource, OutboxTables tables) {
		this.database = new OutboxDatabase(dataSource);
		this.tables = tables;
	}

	/**
	 * Lists events.
	 * @param filter which events
	 * @param after the last event of the previous page, or {@code null} for the first
	 * page
	 * @param limit how many at most
	 * @return by key, in the order of their rows
	 */
	public List<BlockedEvent> list(DeadFilter filter, @Nullable OrderedRow after, int limit) {
		BlockedRows rows = rows();
		return this.database
			.runInTransaction((connection) -> rows.read(connection, filter, (after != null) ? after : FIRST, limit));
	}

	/**
	 * Makes events due now, with all their attempts. They stay the first ones of their
	 * keys.
	 * @param filter which events
	 * @return how many were changed
	 */
	public int retry(DeadFilter filter) {
		BlockedRows rows = rows();
		return eachBatch(filter, rows::retry);
	}

	/**
	 * Moves events to the dead events, so that the later ones of their keys are
	 * delivered.
	 * @param filter which events
	 * @return how many were moved
	 */
	public int skip(DeadFilter filter) {
		BlockedRows rows = rows();
		return eachBatch(filter, (connection, locked) -> {
			rows.copyToDead(connection, locked);
			rows.delete(connection, locked);
		});
	}

	/**
	 * Deletes events, so that the later ones of their keys are delivered.
	 * @param filter which events
	 * @return how many were deleted
	 */
	public int discard(DeadFilter filter) {
		BlockedRows rows = rows();
		return eachBatch(filter, rows::delete);
	}

	private int eachBatch(DeadFilter filter, BiConsumer<Connection, List<OrderedRow>> step) {
		BlockedRows rows = rows();
		int done = 0;
		OrderedRow after = FIRST;
		List<OrderedRow> batch;
		do {
			OrderedRow last = after;
			batch = this.database.runInTransaction((connection) -> {
				List<OrderedRow> locked = rows.lock(connection, filter, last, BATCH);
				step.accept(connection, locked);
				return locked;
			});
			done += batch.size();
			after = batch.isEmpty() ? after : batch.get(batch.size() - 1);
		}
		while (batch.size() == BATCH);
		return done;
	}

	private BlockedRows rows() {
		return new BlockedRows(this.database.kind(), this.tables);
	}

	/**
	 * A blocked event, without its payload and its key.
	 *
	 * @param id the id of the event
	 * @param keyHash the hash of its topic and key, for paging
	 * @param row its row, for paging
	 * @param type the type of the event
	 * @param topic the topic of the event
	 * @param attempts how many attempts were made
	 * @param age how long ago it was appended, by the clock of the database
	 * @param lastError the reason, or {@code null} if none is known
	 * @param payloadBytes the size of the payload in bytes
	 */
	public record BlockedEvent(UUID id, long keyHash, long row, String type, String topic, int attempts, Duration age,
			@Nullable String lastError, long payloadBytes) {
	}

}
