package dev.idempotent.outbox.redis;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.StoredEvent;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStreamCommands.TrimOptions;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.StreamRecords;

/**
 * Adds one event after the other by whatever client the application has. Stops at the
 * first sign that Redis is away: the rest would cost a time-out each.
 */
final class PlainAppender implements StreamAppender {

	private final RedisConnectionFactory application;

	private final XAddOptions options;

	PlainAppender(RedisConnectionFactory application, @Nullable Long maxLength) {
		this.application = application;
		this.options = (maxLength != null) ? XAddOptions.trim(TrimOptions.maxLen(maxLength).approximate())
				: XAddOptions.none();
	}

	@Override
	public List<Outcome> append(List<StoredEvent> events) {
		Outcome[] outcomes = new Outcome[events.size()];
		Outcome last = new Outcome.Delivered();
		for (int i = 0; i < outcomes.length; i++) {
			if (!(last instanceof Outcome.Unavailable)) {
				last = append(events.get(i));
			}
			outcomes[i] = last;
		}
		return List.of(outcomes);
	}

	@SuppressWarnings("ArrayAsKeyOfSetOrMap") // Spring Data wants it, and nothing is
												// looked up.
	private Outcome append(StoredEvent event) {
		Map<byte[], byte[]> fields = new LinkedHashMap<>();
		EntryFields.forEach(event, fields::put);
		try (RedisConnection connection = this.application.getConnection()) {
			connection.streamCommands()
				.xAdd(StreamRecords.newRecord().in(EntryFields.bytes(event.destination())).ofBytes(fields),
						this.options);
			return new Outcome.Delivered();
		}
		catch (DataAccessException ex) {
			return Refusal.of(ex);
		}
	}

}
