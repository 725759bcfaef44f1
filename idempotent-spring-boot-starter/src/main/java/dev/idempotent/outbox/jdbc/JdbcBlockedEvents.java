package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

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

	public JdbcBlockedEvents(DataSource dataSource, OutboxTables tables) {
	}

	public List<BlockedEvent> list(DeadFilter filter, @Nullable OrderedRow after, int limit) {
		throw new UnsupportedOperationException();
	}

	public int retry(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

	public int skip(DeadFilter filter) {
		throw new UnsupportedOperationException();
	}

	public int discard(DeadFilter filter) {
		throw new UnsupportedOperationException();
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
