package dev.idempotent.outbox.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import io.lettuce.core.RedisException;

/**
 * Sends each batch on a connection that no other batch is using, and keeps the connection
 * for the next one.
 */
final class PipelinedSender implements EventSender {

	private final DedicatedRedisConnections connections;

	private final EventCommand command;

	private final ReplicaConfirmation confirmation;

	private final Queue<DedicatedRedisConnection> idle = new ConcurrentLinkedQueue<>();

	PipelinedSender(DedicatedRedisConnections connections, EventCommand command, ReplicaConfirmation confirmation) {
		this.connections = connections;
		this.command = command;
		this.confirmation = confirmation;
	}

	@Override
	public List<Outcome> send(List<SerializedEvent> events) {
		long start = System.nanoTime();
		try {
			PipelinedBatch batch = new PipelinedBatch(events, this.command, this.confirmation);
			DedicatedRedisConnection connection = connection();
			try {
				batch.send(connection);
				return batch.await(start + this.connections.timeout().toNanos());
			}
			finally {
				giveBack(connection, batch.isConnectionReusable());
			}
		}
		catch (RedisException ex) {
			return new ArrayList<>(
					Collections.nCopies(events.size(), FailureOutcomes.unreachable(ex, Scope.PUBLISHER)));
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

	private void giveBack(DedicatedRedisConnection connection, boolean reusable) {
		if (reusable && connection.isOpen()) {
			this.idle.add(connection);
		}
		else {
			this.connections.discard(connection);
			closeIdle();
		}
	}

	/**
	 * Closes idle connections after a failure: it often affects all of them, and each
	 * would cost a timeout.
	 */
	private void closeIdle() {
		for (DedicatedRedisConnection kept = this.idle.poll(); kept != null; kept = this.idle.poll()) {
			kept.close();
		}
	}

}
