package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.NewEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * The table of events and all statements of their delivery. A row is its own lease:
 * {@code attempts} is the fencing token, and {@code due_at} the end of the lease or of a
 * backoff. The marks and the appends participate in the transaction of the calling
 * thread; each other method commits on its own. Failures are
 * {@link org.springframework.dao.DataAccessException}s.
 */
public final class EventTable {

	/**
	 * Creates access to tables that one of the scripts beside this class has created.
	 * @param dataSource the data source of the application's transactions
	 * @param tables the tables
	 * @param encryption how payloads are protected
	 */
	public EventTable(DataSource dataSource, OutboxTables tables, PayloadEncryption encryption) {
		throw new UnsupportedOperationException();
	}

	/**
	 * The key under which transactions bind their resource to the thread.
	 * @return the data source
	 */
	public Object transactionResource() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Inserts a mark into the transaction of the calling thread, if the database can roll
	 * back all of its work and go on in another one, as MySQL and H2 do to break a
	 * deadlock.
	 * @return the mark, or {@code null} if the database cannot
	 */
	public @Nullable UUID mark() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Deletes a mark in the transaction of the calling thread.
	 * @return {@code false} if it was no longer there
	 */
	public boolean unmark(UUID mark) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Inserts events in the transaction of the calling thread, in this order, right
	 * before its commit. Events for later go to the table of delayed events.
	 * @param events without rows yet
	 * @return the rows that can be delivered after the commit, in the same order
	 */
	public List<Row> append(List<NewEvent> events) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Reads the first rows of lanes in one snapshot, which shows committed rows only.
	 * @param looks each lane once, in any order
	 * @param limit how many rows of each lane
	 * @return in the order of lanes and rows
	 */
	public List<Head> heads(List<Look> looks, int limit) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Claims rows that are as they were read, and still due: counts an attempt, and
	 * leases them.
	 * @param heads in the order of lanes and rows
	 * @param lease begins now
	 * @param attempts an event with more attempts than this comes without its payload
	 * @return the claimed rows in the same order, also those that cannot be delivered; the
	 * others are gone, or belong to another claim
	 */
	public List<Claim> claim(List<Head> heads, Duration lease, int attempts) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Deletes rows whose publication was confirmed.
	 * @return how many were still claimed by these attempts
	 */
	public int delete(List<Claim> claims) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Ends the leases of rows that were not sent, or whose attempt does not count.
	 * @return how many were still claimed by these attempts
	 */
	public int release(List<Claim> claims) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes rows wait for their next attempt.
	 * @return how many were still claimed by these attempts
	 */
	public int postpone(List<Failure> failures) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Makes lanes wait for an operator: their first rows stay and have no next attempt.
	 * @return how many were still claimed by these attempts
	 */
	public int block(List<Failure> failures) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Moves rows to the dead events.
	 * @return how many were still claimed by these attempts
	 */
	public int bury(List<Failure> failures) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Moves delayed events that are due to rows that can be delivered.
	 * @param limit how many at most
	 * @return their new rows
	 */
	public List<Row> moveDelayed(int limit) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Reads the next rows of the table.
	 * @param above the lane behind which to begin; {@link Long#MIN_VALUE} for the first
	 * @param limit how many rows at most
	 * @return the lanes whose first row is due, and where to go on
	 */
	public Chunk scan(long above, int limit) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Where an event is stored.
	 */
	public record Row(long lane, long id, String topic) {
	}

	/**
	 * Where to look for the first row of a lane.
	 *
	 * @param above only rows above this one; 0 for all
	 */
	public record Look(long lane, long above) {
	}

	/**
	 * A row as it was read.
	 *
	 * @param attempts how many attempts have begun
	 * @param bytes the size of the payload as it is stored
	 * @param due whether it can be claimed: neither leased, waiting nor blocked
	 * @param settled whether its last attempt ended: a row with an attempt that did not
	 * end may have been the reason, and is sent alone
	 */
	public record Head(long lane, long id, int attempts, String topic, @Nullable String key, long bytes, boolean due,
			boolean settled) {
	}

	/**
	 * A claimed row.
	 *
	 * @param event with its row and the attempts of this claim
	 * @param undeliverable the outcome of an event that cannot be published as it is
	 * stored, or {@code null} if it can
	 */
	public record Claim(long lane, SerializedEvent event, @Nullable Outcome undeliverable) {
	}

	/**
	 * A claimed row that could not be delivered.
	 *
	 * @param reason a sentence for operators
	 * @param delay until the next attempt; without effect on a blocked or dead one
	 */
	public record Failure(Claim claim, String reason, Duration delay) {
	}

	/**
	 * A part of the table.
	 *
	 * @param due the first row of each lane of this part that is due
	 * @param rows how many rows the part has
	 * @param waiting how many first rows wait for another attempt, or are leased
	 * @param blocked how many lanes wait for an operator
	 * @param oldest how long ago the oldest first row without a failed attempt was
	 * appended, by the clock of the database; zero if there is none
	 * @param last the last row of the part, or {@code null} if there is none
	 * @param end whether there are no further rows
	 */
	public record Chunk(List<Row> due, int rows, int waiting, int blocked, Duration oldest, @Nullable Row last,
			boolean end) {
	}

}
