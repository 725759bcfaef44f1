package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Publishes a batch of events by commands: with Lettuce as a pipeline, on a connection
 * that no other batch is using, and with any other client one after the other.
 */
abstract class RedisPublisher implements OutboxPublisher, AutoCloseable {

	/**
	 * Stands for all destinations, none of which is blank.
	 */
	private static final String ALL = "";

	private final EventCommand command;

	/**
	 * {@code null} with another client than Lettuce.
	 */
	private final @Nullable DedicatedRedisConnections connections;

	/**
	 * Used without {@link #connections}.
	 */
	private final @Nullable RedisConnectionFactory application;

	private final int replicas;

	private final Duration waitTimeout;

	/**
	 * Creates a publisher that sends a batch as a pipeline: with one flush (in a Cluster
	 * one for each slot), and one timeout for all replies.
	 * @param connections closed together with the publisher
	 * @param replicas how many replicas must confirm a batch; 0 for none
	 * @param waitTimeout how long to wait for them
	 */
	RedisPublisher(EventCommand command, DedicatedRedisConnections connections, int replicas, Duration waitTimeout) {
		this.command = command;
		this.connections = connections;
		this.application = null;
		this.replicas = replicas;
		this.waitTimeout = waitTimeout;
	}

	/**
	 * Creates a publisher that sends one event after the other, with any client and the
	 * application's timeout.
	 */
	RedisPublisher(EventCommand command, RedisConnectionFactory application) {
		this.command = command;
		this.connections = null;
		this.application = application;
		this.replicas = 0;
		this.waitTimeout = Duration.ZERO;
	}

	@Override
	public final boolean keepsOrder() {
		return this.command.keepsOrder();
	}

	@Override
	public final List<Outcome> publish(List<SerializedEvent> events) {
		if (this.connections != null) {
			return PipelinedBatch.send(this.connections, events, this.command, this.replicas, this.waitTimeout);
		}
		return sendEach(Objects.requireNonNull(this.application), events);
	}

	@Override
	public final void close() {
		if (this.connections != null) {
			this.connections.close();
		}
	}

	/**
	 * Skips what is behind an event of the same key that was not confirmed, and the
	 * remaining events of the server, or in a Cluster of the destination, after the first
	 * failure to reach it: each would cost a timeout.
	 */
	private List<Outcome> sendEach(RedisConnectionFactory client, List<SerializedEvent> events) {
		Outcome[] outcomes = new Outcome[events.size()];
		Map<String, Outcome.Unavailable> unavailable = new HashMap<>();
		Set<List<String>> stopped = new HashSet<>();
		for (int i = 0; i < outcomes.length; i++) {
			String destination = events.get(i).destination();
			String key = this.command.keepsOrder() ? events.get(i).key() : null;
			List<String> run = (key != null) ? List.of(destination, key) : List.of();
			Outcome known = stopped.contains(run) ? PipelinedBatch.UNSENT
					: unavailable.getOrDefault(ALL, unavailable.get(destination));
			outcomes[i] = (known != null) ? known : send(client, events.get(i));
			if (!run.isEmpty() && !(outcomes[i] instanceof Outcome.Delivered)) {
				stopped.add(run);
			}
			if (outcomes[i] instanceof Outcome.Unavailable outcome && outcome != PipelinedBatch.UNSENT) {
				unavailable.put((outcome.scope() == Scope.PUBLISHER) ? ALL : destination, outcome);
			}
		}
		return List.of(outcomes);
	}

	private Outcome send(RedisConnectionFactory client, SerializedEvent event) {
		Scope scope = Scope.PUBLISHER;
		try (RedisConnection connection = client.getConnection()) {
			boolean cluster = connection instanceof RedisClusterConnection;
			scope = cluster ? Scope.DESTINATION : Scope.PUBLISHER;
			Object reply = this.command.execute(connection, event);
			this.command.confirmed(event, reply, cluster);
			return RedisFailures.replied(reply);
		}
		catch (DataAccessException ex) {
			return RedisFailures.of(ex, scope);
		}
	}

}
