package dev.idempotent.outbox.redis;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStreamCommands.TrimOptions;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.StreamRecords;

/**
 * Adds one event after the other with any Redis client. Skips the remaining events of the
 * server, or in a Cluster of the stream, after the first failure to reach it: each would
 * cost a timeout.
 */
final class SequentialAppender implements StreamAppender {

	/**
	 * Stands for all destinations, none of which is blank.
	 */
	private static final String ALL = "";

	private final RedisConnectionFactory application;

	private final XAddOptions options;

	SequentialAppender(RedisConnectionFactory application, @Nullable Long maxLength) {
		this.application = application;
		this.options = (maxLength != null) ? XAddOptions.trim(TrimOptions.maxLen(maxLength).approximate())
				: XAddOptions.none();
	}

	@Override
	public List<Outcome> append(List<SerializedEvent> events) {
		Outcome[] outcomes = new Outcome[events.size()];
		Map<String, Outcome.Unavailable> unavailable = new HashMap<>();
		for (int i = 0; i < outcomes.length; i++) {
			String destination = events.get(i).destination();
			Outcome known = unavailable.getOrDefault(ALL, unavailable.get(destination));
			outcomes[i] = (known != null) ? known : append(events.get(i));
			if (outcomes[i] instanceof Outcome.Unavailable outcome) {
				unavailable.put((outcome.scope() == Scope.PUBLISHER) ? ALL : destination, outcome);
			}
		}
		return List.of(outcomes);
	}

	@SuppressWarnings("ArrayAsKeyOfSetOrMap") // Required by Spring Data, never
												// used for look-up.
	private Outcome append(SerializedEvent event) {
		Map<byte[], byte[]> fields = new LinkedHashMap<>();
		EntryFields.forEach(event, fields::put);
		Scope scope = Scope.PUBLISHER;
		try (RedisConnection connection = this.application.getConnection()) {
			scope = (connection instanceof RedisClusterConnection) ? Scope.DESTINATION : Scope.PUBLISHER;
			connection.streamCommands()
				.xAdd(StreamRecords.newRecord().in(EntryFields.bytes(event.destination())).ofBytes(fields),
						this.options);
			return new Outcome.Delivered();
		}
		catch (DataAccessException ex) {
			return FailureOutcomes.of(ex, scope);
		}
	}

}
