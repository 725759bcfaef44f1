package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStreamCommands.TrimOptions;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.StreamRecords;

/**
 * Adds events to Redis Streams: an event with the topic {@code redis-stream:orders} is
 * added to the stream with the key {@code orders}. The fields of an entry are the event's
 * headers, and {@code payload} with the bytes as they were appended.
 * <p>
 * An event whose reply is lost is sent again, so that a stream may contain it twice, with
 * the same {@code ce_id}.
 */
public final class RedisStreamPublisher extends RedisPublisher {

	/**
	 * The prefix of this publisher's topics.
	 */
	public static final String PREFIX = "redis-stream";

	/**
	 * Creates a publisher that sends a batch as a pipeline on its own connection: with
	 * one flush (in a Cluster one for each slot), and one timeout for all replies.
	 * @param connections closed together with the publisher
	 * @param maxLength the approximate number of entries that a stream keeps, or
	 * {@code null} to keep all. Trimming removes the oldest entries whether or not every
	 * group has read them: a group that lags further behind silently loses events
	 * @param waitReplicas how many replicas must confirm a batch; 0 for none, as always
	 * in a Cluster
	 * @param waitTimeout how long to wait for replicas, shorter than the timeout of the
	 * connections
	 */
	public RedisStreamPublisher(DedicatedRedisConnections connections, @Nullable Long maxLength, int waitReplicas,
			Duration waitTimeout) {
		super(new StreamCommand(maxLength), connections, waitReplicas, waitTimeout);
	}

	/**
	 * Creates a publisher that sends one event after the other, with any client and the
	 * application's timeout.
	 * @param application the application's factory
	 * @param maxLength the approximate number of entries that a stream keeps, or
	 * {@code null} to keep all
	 */
	public RedisStreamPublisher(RedisConnectionFactory application, @Nullable Long maxLength) {
		super(new StreamCommand(maxLength), application);
	}

	@Override
	public String prefix() {
		return PREFIX;
	}

	/**
	 * Adds an event to a stream.
	 *
	 * @param maxLength the approximate number of entries that a stream keeps, or
	 * {@code null}
	 */
	private record StreamCommand(@Nullable Long maxLength) implements EventCommand {

		private static final byte[] PAYLOAD = EventCommand.bytes("payload");

		@Override
		public AsyncCommand<byte[], byte[], ?> pipelined(SerializedEvent event) {
			return LettuceCommands.xadd(event.destination(), this.maxLength, fields(event));
		}

		@Override
		public boolean keepsOrder() {
			return true;
		}

		@Override
		public AsyncCommand<byte[], byte[], List<Object>> pipelined(List<SerializedEvent> run) {
			return LettuceCommands.addRun(run.get(0).destination(), this.maxLength,
					run.stream().map(StreamCommand::fields).toList());
		}

		private static List<byte[]> fields(SerializedEvent event) {
			List<byte[]> fields = new ArrayList<>();
			forEachField(event, (name, value) -> {
				fields.add(name);
				fields.add(value);
			});
			return fields;
		}

		@Override
		@SuppressWarnings("ArrayAsKeyOfSetOrMap") // Required by Spring Data, never
													// used for look-up.
		public @Nullable Object execute(RedisConnection connection, SerializedEvent event) {
			Map<byte[], byte[]> fields = new LinkedHashMap<>();
			forEachField(event, fields::put);
			XAddOptions options = (this.maxLength != null)
					? XAddOptions.trim(TrimOptions.maxLen(this.maxLength).approximate()) : XAddOptions.none();
			return connection.streamCommands()
				.xAdd(StreamRecords.newRecord().in(EventCommand.bytes(event.destination())).ofBytes(fields), options);
		}

		/**
		 * Skips a header named {@code payload}, which would hide the payload of the
		 * event.
		 */
		private static void forEachField(SerializedEvent event, BiConsumer<byte[], byte[]> field) {
			event.headers().forEach((name, value) -> {
				if (!name.equals("payload")) {
					field.accept(EventCommand.bytes(name), EventCommand.bytes(value));
				}
			});
			field.accept(PAYLOAD, event.payload());
		}

	}

}
