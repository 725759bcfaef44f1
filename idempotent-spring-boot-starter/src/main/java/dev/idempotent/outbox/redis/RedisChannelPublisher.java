package dev.idempotent.outbox.redis;

import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Publishes events to Redis channels: an event with the topic
 * {@code redis-channel:orders} is published to the channel {@code orders}, as a
 * CloudEvent in JSON.
 * <p>
 * Redis keeps nothing for clients that are not subscribed at that moment. An event
 * without a receiver is delivered; it is counted and logged, except in a Cluster.
 */
public final class RedisChannelPublisher implements OutboxPublisher, AutoCloseable {

	/**
	 * The prefix of this publisher's topics.
	 */
	public static final String PREFIX = "redis-channel";

	private final EventSender sender;

	private final @Nullable DedicatedRedisConnections connections;

	private RedisChannelPublisher(EventSender sender, @Nullable DedicatedRedisConnections connections) {
		this.sender = sender;
		this.connections = connections;
	}

	/**
	 * Sends a batch as a pipeline on its own connection: with one flush (in a Cluster one
	 * for each slot), and one timeout for all replies.
	 * @param connections closed together with the publisher
	 * @param unreceived called for each event that no client has received
	 * @return the publisher
	 */
	public static RedisChannelPublisher pipelined(DedicatedRedisConnections connections, Runnable unreceived) {
		return new RedisChannelPublisher(
				new PipelinedSender(connections, command(unreceived), ReplicaConfirmation.NONE), connections);
	}

	/**
	 * Sends one event after the other, with any client and the application's timeout.
	 * @param application the application's factory
	 * @param unreceived called for each event that no client has received
	 * @return the publisher
	 */
	public static RedisChannelPublisher sequential(RedisConnectionFactory application, Runnable unreceived) {
		return new RedisChannelPublisher(new SequentialSender(application, command(unreceived)), null);
	}

	private static EventCommand command(Runnable unreceived) {
		UnreceivedEvents events = new UnreceivedEvents(unreceived);
		return new ChannelCommand(events::add);
	}

	@Override
	public String prefix() {
		return PREFIX;
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
