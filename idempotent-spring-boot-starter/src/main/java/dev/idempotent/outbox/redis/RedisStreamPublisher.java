package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Adds events to Redis Streams: an event with the topic {@code redis-stream:orders} is
 * added to the stream with the key {@code orders}. The fields of an entry are the event's
 * headers, and {@code payload} with the bytes as they were appended.
 * <p>
 * An event whose reply is lost is sent again, so that a stream may contain it twice, with
 * the same {@code ce_id}.
 */
public final class RedisStreamPublisher implements OutboxPublisher, AutoCloseable {

	/**
	 * The prefix of this publisher's topics.
	 */
	public static final String PREFIX = "redis-stream";

	private final EventSender sender;

	private final @Nullable DedicatedRedisConnections connections;

	private RedisStreamPublisher(EventSender sender, @Nullable DedicatedRedisConnections connections) {
		this.sender = sender;
		this.connections = connections;
	}

	/**
	 * Sends a batch as a pipeline on its own connection: with one flush (in a Cluster one
	 * for each slot), and one timeout for all replies.
	 * @param connections closed together with the publisher
	 * @param maxLength the approximate number of entries that a stream keeps, or
	 * {@code null} to keep all. Trimming removes the oldest entries whether or not every
	 * group has read them: a group that lags further behind silently loses events
	 * @param waitReplicas how many replicas must confirm a batch; 0 for none, as always
	 * in a Cluster
	 * @param waitTimeout how long to wait for replicas, shorter than the timeout of the
	 * connections
	 * @return the publisher
	 */
	public static RedisStreamPublisher pipelined(DedicatedRedisConnections connections, @Nullable Long maxLength,
			int waitReplicas, Duration waitTimeout) {
		return new RedisStreamPublisher(new PipelinedSender(connections, new StreamCommand(maxLength),
				new ReplicaConfirmation(waitReplicas, waitTimeout)), connections);
	}

	/**
	 * Sends one event after the other, with any client and the application's timeout.
	 * @param application the application's factory
	 * @param maxLength the approximate number of entries that a stream keeps, or
	 * {@code null} to keep all
	 * @return the publisher
	 */
	public static RedisStreamPublisher sequential(RedisConnectionFactory application, @Nullable Long maxLength) {
		return new RedisStreamPublisher(new SequentialSender(application, new StreamCommand(maxLength)), null);
	}

	@Override
	public String prefix() {
		return PREFIX;
	}

	/**
	 * The events of a key are one command, or are sent one after the other.
	 */
	@Override
	public boolean keepsOrder() {
		return true;
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		return this.sender.send(events);
	}

	@Override
	public void close() {
		if (this.connections != null) {
			this.connections.close();
		}
	}

}
