package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import org.jspecify.annotations.Nullable;

/**
 * Lists events for operators, page by page in the order of a primary key. A page examines
 * a limited number of rows, whatever the filter, and takes no locks.
 */
public final class JdbcEventLists {

	public JdbcEventLists(DataSource dataSource, OutboxTables tables) {
	}

	public Page pending(DeadFilter filter, @Nullable OrderedRow after, int limit) {
		throw new UnsupportedOperationException();
	}

	public Page waiting(DeadFilter filter, @Nullable OrderedRow after, int limit) {
		throw new UnsupportedOperationException();
	}

	public Page ordered(DeadFilter filter, @Nullable OrderedRow after, int limit, boolean blocked) {
		throw new UnsupportedOperationException();
	}

	public Duration oldestUnpausedAge() {
		throw new UnsupportedOperationException();
	}

	/**
	 * A page of events.
	 *
	 * @param events the events that match the filter
	 * @param next where the next page begins, or {@code null} if this is the last one; a
	 * page that examined its limit of rows can be empty without being the last one
	 */
	public record Page(List<ListedEvent> events, @Nullable OrderedRow next) {
	}

	/**
	 * An event, without its payload and its key.
	 *
	 * @param position where a page that begins after it begins
	 * @param id the id of the event, as it is stored
	 * @param type the type of the event
	 * @param topic the topic of the event
	 * @param attempts how many attempts have begun
	 * @param age how long ago it was appended, by the clock of the database
	 * @param availableIn how long until it is due, or its lease ends; zero if it is due,
	 * {@code null} if it waits for an operator
	 * @param leased whether an instance has leased it
	 * @param lastError why the last attempt failed, or {@code null} if none did
	 * @param payloadBytes the size of the payload in bytes, as it is stored
	 */
	public record ListedEvent(OrderedRow position, String id, String type, String topic, int attempts, Duration age,
			@Nullable Duration availableIn, boolean leased, @Nullable String lastError, long payloadBytes) {
	}

}
