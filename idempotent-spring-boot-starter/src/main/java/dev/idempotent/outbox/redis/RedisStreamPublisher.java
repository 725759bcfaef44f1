package dev.idempotent.outbox.redis;

import java.util.List;

import dev.idempotent.lettuce.DedicatedRedisConnections;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Adds events to Redis Streams: the topic {@code redis-stream:orders} goes to the stream
 * with the key {@code orders}. The fields of an entry are the event's headers, each under
 * its own name, and {@code payload} with the bytes as they were appended.
 * <p>
 * An event whose reply is lost is sent again, so that a stream may have it twice, with
 * the same {@code ce_id}.
 */
public final class RedisStreamPublisher implements OutboxPublisher, AutoCloseable {

	/**
	 * What the topics of this publisher begin with.
	 */
	public static final String PREFIX = "redis-stream";

	private final StreamAppender appender;

	private final @Nullable DedicatedRedisConnections connections;

	private RedisStreamPublisher(StreamAppender appender, @Nullable DedicatedRedisConnections connections) {
		this.appender = appender;
		this.connections = connections;
	}

	/**
	 * Sends a batch at once on a connection of its own: one flush (in a Cluster one for
	 * each slot), and all replies awaited together for the time-out of the connections.
	 * @param connections closed together with the publisher
	 * @param options what holds for the streams; no replicas can be waited for in a
	 * Cluster
	 * @return the publisher
	 */
	public static RedisStreamPublisher pipelined(DedicatedRedisConnections connections, RedisStreamOptions options) {
		return new RedisStreamPublisher(new PipelinedAppender(connections, options), connections);
	}

	/**
	 * Sends one event after the other, with any client and its own time-out.
	 * @param application the application's factory
	 * @param options what holds for the streams; no replicas can be waited for
	 * @return the publisher
	 */
	public static RedisStreamPublisher oneByOne(RedisConnectionFactory application, RedisStreamOptions options) {
		return new RedisStreamPublisher(new PlainAppender(application, options.maxLength()), null);
	}

	@Override
	public String prefix() {
		return PREFIX;
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		return this.appender.append(events);
	}

	@Override
	public void close() {
		if (this.connections != null) {
			this.connections.close();
		}
	}

}
