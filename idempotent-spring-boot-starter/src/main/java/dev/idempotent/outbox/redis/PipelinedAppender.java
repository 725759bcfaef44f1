package dev.idempotent.outbox.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.idempotent.lettuce.DedicatedRedisConnection;
import dev.idempotent.lettuce.DedicatedRedisConnections;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import io.lettuce.core.RedisException;

/**
 * Sends each batch on a connection that no other batch uses at that time, and keeps the
 * connection for the next.
 */
final class PipelinedAppender implements StreamAppender {

	private final DedicatedRedisConnections connections;

	private final RedisStreamOptions options;

	private final Queue<DedicatedRedisConnection> idle = new ConcurrentLinkedQueue<>();

	PipelinedAppender(DedicatedRedisConnections connections, RedisStreamOptions options) {
		this.connections = connections;
		this.options = options;
	}

	@Override
	public List<Outcome> append(List<SerializedEvent> events) {
		long start = System.nanoTime();
		try {
			DedicatedRedisConnection connection = connection();
			Batch batch = new Batch(events, this.options, connection.isCluster());
			try {
				batch.send(connection);
				return batch.await(start + this.connections.timeout().toNanos());
			}
			finally {
				takeBack(connection, batch.leavesUsable());
			}
		}
		catch (RedisException ex) {
			return new ArrayList<>(Collections.nCopies(events.size(), Refusal.unreachable(ex, Scope.PUBLISHER)));
		}
	}

	private DedicatedRedisConnection connection() {
		DedicatedRedisConnection kept = this.idle.poll();
		while (kept != null && !kept.isOpen()) {
			kept.close();
			kept = this.idle.poll();
		}
		return (kept != null) ? kept : this.connections.connect();
	}

	private void takeBack(DedicatedRedisConnection connection, boolean usable) {
		if (usable && connection.isOpen()) {
			this.idle.add(connection);
		}
		else {
			this.connections.discard(connection);
			retireIdle();
		}
	}

	/**
	 * What broke one connection has often broken all, and each would cost a time-out.
	 */
	private void retireIdle() {
		for (DedicatedRedisConnection kept = this.idle.poll(); kept != null; kept = this.idle.poll()) {
			kept.close();
		}
	}

}
