package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
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
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Publishes each event by a command: with Lettuce a batch as a pipeline, on a connection
 * that no other batch is using, and with any other client one after the other.
 */
abstract class RedisPublisher implements OutboxPublisher, AutoCloseable {

	/**
	 * Stands for all destinations, none of which is blank.
	 */
	private static final String ALL = "";

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
	 * Creates a publisher that sends pipelines.
	 * @param connections closed together with the publisher
	 * @param replicas how many replicas must confirm a batch; 0 for none
	 * @param waitTimeout how long to wait for them
	 */
	RedisPublisher(DedicatedRedisConnections connections, int replicas, Duration waitTimeout) {
		this.connections = connections;
		this.application = null;
		this.replicas = replicas;
		this.waitTimeout = waitTimeout;
	}

	/**
	 * Creates a publisher that sends single commands.
	 */
	RedisPublisher(RedisConnectionFactory application) {
		this.connections = null;
		this.application = application;
		this.replicas = 0;
		this.waitTimeout = Duration.ZERO;
	}

	/**
	 * The command for a pipeline of Lettuce. Its first key is the destination.
	 */
	abstract AsyncCommand<byte[], byte[], ?> command(SerializedEvent event);

	/**
	 * The command for several events of one destination and key, if their order is kept.
	 * Its reply is a list of how many it has published, and the error.
	 */
	AsyncCommand<byte[], byte[], List<Object>> command(List<SerializedEvent> run) {
		throw new UnsupportedOperationException("Its order is not kept");
	}

	/**
	 * Executes the command with any client.
	 * @return the reply
	 */
	abstract @Nullable Object execute(RedisConnection connection, SerializedEvent event);

	/**
	 * Whether a replica accepts the command, too, although nothing reaches its master.
	 */
	boolean isAcceptedByReplicas() {
		return false;
	}

	/**
	 * Called after Redis has confirmed an event.
	 * @param cluster whether the reply is that of a node of a Cluster
	 */
	void confirmed(SerializedEvent event, @Nullable Object reply, boolean cluster) {
	}

	@Override
	public final List<Outcome> publish(List<SerializedEvent> events) {
		if (this.connections != null) {
			return PipelinedBatch.send(this.connections, events, this, this.replicas, this.waitTimeout);
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
			String key = keepsOrder() ? events.get(i).key() : null;
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
			Object reply = execute(connection, event);
			confirmed(event, reply, cluster);
			return RedisFailures.replied(reply);
		}
		catch (DataAccessException ex) {
			return RedisFailures.of(ex, scope);
		}
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
