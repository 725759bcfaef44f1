package dev.idempotent.outbox.redis;

import java.time.Duration;

import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Publishes events to Redis channels: an event with the topic
 * {@code redis-channel:orders} is published to the channel {@code orders}, as a
 * CloudEvent in JSON.
 * <p>
 * Redis keeps nothing for clients that are not subscribed at that moment. An event
 * without a receiver is delivered; it is counted and logged, except in a Cluster.
 */
public final class RedisChannelPublisher extends RedisPublisher {

	/**
	 * The prefix of this publisher's topics.
	 */
	public static final String PREFIX = "redis-channel";

	private static final Logger logger = LoggerFactory.getLogger(RedisChannelPublisher.class);

	/**
	 * Creates a publisher that sends a batch as a pipeline on its own connection: with
	 * one flush (in a Cluster one for each slot), and one timeout for all replies.
	 * @param connections closed together with the publisher
	 * @param unreceived called for each event that no client has received
	 */
	public RedisChannelPublisher(DedicatedRedisConnections connections, Runnable unreceived) {
		super(new ChannelCommand(unreceived), connections, 0, Duration.ZERO);
	}

	/**
	 * Creates a publisher that sends one event after the other, with any client and the
	 * application's timeout.
	 * @param application the application's factory
	 * @param unreceived called for each event that no client has received
	 */
	public RedisChannelPublisher(RedisConnectionFactory application, Runnable unreceived) {
		super(new ChannelCommand(unreceived), application);
	}

	@Override
	public String prefix() {
		return PREFIX;
	}

	/**
	 * Publishes an event to a channel. Logs the first event that no client has received,
	 * then a summary at most once a minute.
	 */
	private static final class ChannelCommand implements EventCommand {

		private static final long PAUSE = Duration.ofMinutes(1).toNanos();

		private final Runnable observer;

		private long notLogged;

		private long nextLine = System.nanoTime();

		ChannelCommand(Runnable observer) {
			this.observer = observer;
		}

		@Override
		public AsyncCommand<byte[], byte[], ?> pipelined(SerializedEvent event) {
			return LettuceCommands.publish(event);
		}

		@Override
		public @Nullable Object execute(RedisConnection connection, SerializedEvent event) {
			return connection.publish(EventCommand.bytes(event.destination()), CloudEventJson.write(event));
		}

		@Override
		public boolean isAcceptedByReplicas() {
			return true;
		}

		/**
		 * A node of a Cluster counts its own clients only.
		 */
		@Override
		public void confirmed(SerializedEvent event, @Nullable Object reply, boolean cluster) {
			if (!cluster && reply instanceof Long receivers && receivers == 0) {
				warn(event);
			}
		}

		private void warn(SerializedEvent event) {
			this.observer.run();
			long unreceived = due();
			if (unreceived > 0) {
				logger.warn(
						"{} published with no receiver, the latest to {}. Redis keeps nothing for clients that "
								+ "subscribe later: use redis-stream for events that must reach disconnected consumers",
						(unreceived == 1) ? "An event was" : unreceived + " events were", event.topic());
			}
		}

		/**
		 * How many events to report now.
		 */
		private synchronized long due() {
			this.notLogged++;
			long now = System.nanoTime();
			if (now - this.nextLine < 0) {
				return 0;
			}
			this.nextLine = now + PAUSE;
			long unreceived = this.notLogged;
			this.notLogged = 0;
			return unreceived;
		}

	}

}
