package dev.idempotent.outbox.redis;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.SerializedEvent;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStreamCommands.TrimOptions;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.StreamRecords;

/**
 * Adds an event to a stream.
 *
 * @param maxLength the approximate number of entries that a stream keeps, or {@code null}
 */
record StreamCommand(@Nullable Long maxLength) implements EventCommand {

	@Override
	public AsyncCommand<byte[], byte[], ?> pipelined(SerializedEvent event) {
		return LettuceCommands.xadd(event, this.maxLength);
	}

	@Override
	public boolean keepsOrder() {
		return true;
	}

	@Override
	public AsyncCommand<byte[], byte[], List<Object>> pipelined(List<SerializedEvent> run) {
		return LettuceCommands.addRun(run, this.maxLength);
	}

	@Override
	@SuppressWarnings("ArrayAsKeyOfSetOrMap") // Required by Spring Data, never
												// used for look-up.
	public @Nullable Object execute(RedisConnection connection, SerializedEvent event) {
		Map<byte[], byte[]> fields = new LinkedHashMap<>();
		EntryFields.forEach(event, fields::put);
		XAddOptions options = (this.maxLength != null)
				? XAddOptions.trim(TrimOptions.maxLen(this.maxLength).approximate()) : XAddOptions.none();
		return connection.streamCommands()
			.xAdd(StreamRecords.newRecord().in(EntryFields.bytes(event.destination())).ofBytes(fields), options);
	}

}
